//! A program as it is written, before any sugar is taken away.

use crate::Span;

/// A name with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name. That of a method with keywords has their colons: `at:put:`.
    pub text: String,
    /// Where it is; that of a method with keywords is its first one.
    pub span: Span,
}

/// What stands in a body, separated by semicolons. The value of a body is that of its last statement, or null.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `def name := value`, or `def name`, which is null: a field in an object, an actor or the program, a variable
    /// elsewhere.
    Def {
        /// What is defined.
        name: Name,
        /// Its value at first.
        value: Option<Expr>,
    },
    /// `def [a, b] := value`: takes a list apart.
    DefList {
        /// What is defined.
        names: Vec<Name>,
        /// A list of as many values.
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
    /// How it is called.
    pub name: Name,
    /// What it takes.
    pub params: Vec<Name>,
    /// What it does.
    pub body: Vec<Statement>,
    /// All of it.
    pub span: Span,
}

/// An expression with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
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
    /// `list[i]`, counted from 1.
    Index(Box<Expr>, Box<Expr>),
    /// `list[i] := value`
    AssignIndex(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `m(a, b)`, or a message with keywords and without a receiver that is none of the control structures:
    /// a function that is visible here, a method of `this`, or a block in a variable.
    Call(Name, Vec<Expr>),
    /// `object.m(a, b)`, `object.at: i put: x`; also `a + b`, whose name is the operator.
    Invoke(Box<Expr>, Name, Vec<Expr>),
    /// `object<-m(a, b)`, `object<-at: i put: x`, with `@FutureMessage` (or `@TwoWayMessage`) if it is two-way.
    Send {
        /// To whom.
        receiver: Box<Expr>,
        /// What.
        name: Name,
        /// With what.
        args: Vec<Expr>,
        /// Whether its value is a future.
        is_two_way: bool,
    },
    /// `{ |x| … }`
    Block(Vec<Name>, Vec<Statement>),
    /// `object: { … }`
    Object(Vec<Statement>),
    /// `isolate: { |x| … }`: what it needs of its surroundings is named, as for an actor.
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
        /// What is waited for.
        future: Box<Expr>,
        /// What is done with its value.
        becomes: Box<Expr>,
        /// What is done if it is ruined.
        catch: Option<Box<Expr>>,
    },
    /// `try: { … } catch: { |e| … }`
    Try(Box<Expr>, Box<Expr>),
    /// `raise: e`
    Raise(Box<Expr>),
}

impl Statement {
    /// Where it is.
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
