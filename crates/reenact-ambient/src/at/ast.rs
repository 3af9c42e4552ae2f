//! The syntax tree of a program, before desugaring.

use crate::Span;

/// A name with its source position.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name. The name of a method with keywords includes the colons: `at:put:`.
    pub text: String,
    /// Its position; for a method with keywords, that of the first one.
    pub span: Span,
}

/// A statement of a body; statements are separated by semicolons. The value of a body is that of its last statement, or
/// null.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `def name := value`, or `def name`, which is null: a field in an object, an actor or the program, a variable
    /// elsewhere.
    Def {
        /// The field or variable that is defined.
        name: Name,
        /// Its initial value.
        value: Option<Expr>,
    },
    /// `def [a, b] := value`: destructures a list.
    DefList {
        /// The fields or variables that are defined.
        names: Vec<Name>,
        /// A list with the same number of values.
        value: Expr,
    },
    /// `def name(a, b) { … }` or `def at: a put: b { … }`: a method in an object, an actor or the program, a local
    /// function elsewhere.
    Method(Method),
    /// An expression.
    Expr(Expr),
}

/// A method or a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Name>,
    /// Its body.
    pub body: Vec<Statement>,
    /// The span of the whole definition.
    pub span: Span,
}

/// An expression with its source position.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What kind of expression it is.
    pub kind: ExprKind,
    /// Its position.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `null`, which is also written `nil`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// `12`
    Int(i64),
    /// `1.5`
    Float(f64),
    /// `"text"`
    Text(String),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `this`, which is also written `self`.
    This,
    /// `x`
    Variable(String),
    /// `x := value`
    Assign(Name, Box<Expr>),
    /// `object.x`
    Field(Box<Expr>, Name),
    /// `object.x := value`
    AssignField(Box<Expr>, Name, Box<Expr>),
    /// `list[i]`, where indices start at 1.
    Index(Box<Expr>, Box<Expr>),
    /// `list[i] := value`
    AssignIndex(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `m(a, b)`, or a message with keywords, without a receiver, that is not a control structure: a function that is
    /// visible here, a method of `this`, or a block in a variable.
    Call(Name, Vec<Expr>),
    /// `object.m(a, b)`, `object.at: i put: x`; also `a + b`, whose name is the operator.
    Invoke(Box<Expr>, Name, Vec<Expr>),
    /// `object<-m(a, b)`, `object<-at: i put: x`, with `@FutureMessage` (or `@TwoWayMessage`) if it is two-way.
    Send {
        /// The receiver.
        receiver: Box<Expr>,
        /// The name of the message.
        name: Name,
        /// The arguments.
        args: Vec<Expr>,
        /// Whether its value is a future.
        is_two_way: bool,
    },
    /// `{ |x| … }`
    Block(Vec<Name>, Vec<Statement>),
    /// `object: { … }`
    Object(Vec<Statement>),
    /// `isolate: { |x| … }`: the variables that it uses from outside are parameters, as for an actor.
    Isolate(Vec<Name>, Vec<Statement>),
    /// `actor: { |x| … }`
    Actor(Vec<Name>, Vec<Statement>),
    /// `if: a then: b` with or without `else: c`. The branches may be blocks, whose statements run in the scope of the
    /// method, or other expressions, whose values are blocks.
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// `while: { … } do: { … }`
    While(Box<Expr>, Box<Expr>),
    /// `when: future becomes: { |x| … }`, with or without `catch: { |e| … }`
    When {
        /// The future.
        future: Box<Expr>,
        /// The block for its value.
        becomes: Box<Expr>,
        /// The block for its error.
        catch: Option<Box<Expr>>,
    },
    /// `try: { … } catch: { |e| … }`
    Try(Box<Expr>, Box<Expr>),
    /// `raise: e`
    Raise(Box<Expr>),
}

impl Statement {
    /// Returns its position.
    pub fn span(&self) -> Span {
        match self {
            Statement::Def { name, value } => match value {
                Some(value) => name.span.to(value.span),
                None => name.span,
            },
            Statement::DefList { names, value } => names
                .first()
                .map_or(value.span, |name| name.span.to(value.span)),
            Statement::Method(method) => method.span,
            Statement::Expr(expr) => expr.span,
        }
    }
}
