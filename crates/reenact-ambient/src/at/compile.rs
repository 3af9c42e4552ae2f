//! Compiles a syntax tree to instructions.
//!
//! Names are resolved here, and only here: to a variable of the method or block, to a field of an enclosing object, or
//! to a variable that has to be captured. An actor and an isolate see only their parameters, so that actors share
//! nothing; a use of any other name is an error that says what to do.
//!
//! A variable that is captured by a block, an object or a local function and assigned somewhere is stored in a cell of
//! the heap; all others are copied. Literal blocks of control structures do not become blocks: they run in place.

mod captures;
mod expression;
mod scope;

use std::collections::HashMap;

use self::{
    captures::shared_variables,
    scope::{BodyKind, CodeScope, LocalVariable, NameAccess, Scope},
};
use super::{
    ast::{Expr, ExprKind, Method, Name, Statement},
    code::{
        Body, Class, ClassId, ClassKind, Code, CodeId, Instruction, KnownNames, Library, NOWHERE,
        SelectorId, SiteId,
    },
    tables::Texts,
    value::Value,
};
use crate::{Source, Span, SyntaxError};

type Compiled<T = ()> = Result<T, SyntaxError>;

/// The methods of numbers, booleans and lists, in terms of the built-in ones.
const LIBRARY: &str = include_str!("library.at");

/// Compiles a program.
pub(crate) fn compile(source: &Source, program: &[Statement], texts: &Texts) -> Compiled<Code> {
    let mut compiler = Compiler::new(texts);
    compiler.source = Some(source);
    let main = compiler.class("main", ClassKind::Actor, &[], program)?.0;
    debug_assert_eq!(main, super::code::PROGRAM, "the program is the first class");

    compiler.source = None;
    let text = Source::new("library", LIBRARY);
    let library = super::parser::parse(&text).expect("the library is a program");
    let classes: Vec<ClassId> = library
        .iter()
        .map(|statement| match statement {
            Statement::Expr(Expr {
                kind: ExprKind::Object(body),
                ..
            }) => {
                let class = compiler.class("library", ClassKind::Object, &[], body);
                class.expect("the library is a correct program").0
            }
            other => unreachable!("the library has objects only, not {other:?}"),
        })
        .collect();
    let [number, bool, list] = classes[..] else {
        unreachable!("the library has an object for each kind of value")
    };
    Ok(compiler.finish(Library { number, bool, list }))
}

struct Compiler<'a> {
    source: Option<&'a Source>,
    texts: &'a Texts,
    bodies: Vec<Body>,
    /// A class gets its id before it is complete.
    classes: Vec<Option<Class>>,
    selectors: Vec<String>,
    selector_ids: HashMap<String, SelectorId>,
    sites: Vec<Option<reenact_multiverse::Site>>,
    site_ids: HashMap<u32, SiteId>,
    lines: Vec<u32>,
    /// The scopes around the code that is being compiled, innermost last.
    scopes: Vec<Scope>,
}

impl<'a> Compiler<'a> {
    fn new(texts: &'a Texts) -> Compiler<'a> {
        Compiler {
            source: None,
            texts,
            bodies: Vec::new(),
            classes: Vec::new(),
            selectors: Vec::new(),
            selector_ids: HashMap::new(),
            sites: vec![None],
            site_ids: HashMap::new(),
            lines: Vec::new(),
            scopes: Vec::new(),
        }
    }

    fn finish(mut self, library: Library) -> Code {
        let names = KnownNames {
            apply: self.selector("apply"),
            resolve: self.selector("resolve"),
            ruin: self.selector("ruin"),
            when: self.selector("when:becomes:"),
        };
        self.lines.sort_unstable();
        self.lines.dedup();
        let classes = self
            .classes
            .into_iter()
            .map(|class| class.expect("every class is complete"));
        Code {
            bodies: self.bodies,
            classes: classes.collect(),
            selectors: self.selectors,
            sites: self.sites,
            lines: self.lines,
            names,
            library,
        }
    }

    fn selector(&mut self, name: &str) -> SelectorId {
        if let Some(&id) = self.selector_ids.get(name) {
            return id;
        }
        let id = SelectorId(self.selectors.len() as u32);
        self.selectors.push(name.to_owned());
        self.selector_ids.insert(name.to_owned(), id);
        id
    }

    fn site(&mut self, span: Span) -> SiteId {
        let Some(source) = self.source else {
            return NOWHERE;
        };
        let sites = &mut self.sites;
        *self.site_ids.entry(span.start).or_insert_with(|| {
            sites.push(Some(source.site(span.start)));
            SiteId(sites.len() as u32 - 1)
        })
    }

    // Instructions

    fn frame(&mut self) -> &mut CodeScope {
        match self.scopes.last_mut() {
            Some(Scope::Code(frame)) => frame,
            _ => unreachable!("code is compiled within a frame"),
        }
    }

    fn emit(&mut self, span: Span, instruction: Instruction) {
        let site = self.site(span);
        let body = &mut self.frame().body;
        body.instructions.push(instruction);
        body.sites.push(site);
    }

    fn here(&mut self) -> u32 {
        self.frame().body.instructions.len() as u32
    }

    /// Emits a jump whose target is not known yet, and returns its position.
    fn jump(&mut self, span: Span, instruction: fn(u32) -> Instruction) -> usize {
        self.emit(span, instruction(u32::MAX));
        self.here() as usize - 1
    }

    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.frame().body.instructions[jump] {
            Instruction::Jump(to) | Instruction::JumpUnless(to) | Instruction::Catch(to) => {
                *to = here
            }
            other => unreachable!("{other:?} does not jump"),
        }
    }

    // Bodies

    /// Compiles code with its own frame. Returns it with its captures.
    fn code(
        &mut self,
        name: &str,
        span: Span,
        params: &[Name],
        body: &[Statement],
        kind: BodyKind,
    ) -> Compiled<(CodeId, Vec<NameAccess>)> {
        let mut frame = CodeScope::new(name, shared_variables(body), kind);
        frame.body.params = params.len() as u32;
        frame.body.site = self.source.map(|source| source.site(span.start));
        self.scopes.push(Scope::Code(frame));
        for param in params {
            self.declare(param, false)?;
        }
        for param in params {
            if let Some(LocalVariable {
                is_cell: true,
                local,
            }) = self.frame().find(&param.text)
            {
                self.emit(param.span, Instruction::Box(local));
            }
        }
        match kind {
            BodyKind::Init => self.init(span, body)?,
            BodyKind::Method | BodyKind::Block => self.statements(span, body)?,
        }
        self.emit(span, Instruction::Return);
        let Some(Scope::Code(frame)) = self.scopes.pop() else {
            unreachable!("scopes are pushed and popped in pairs")
        };
        let (body, captures) = frame.finish();
        self.bodies.push(body);
        Ok((CodeId(self.bodies.len() as u32 - 1), captures))
    }

    fn declare(&mut self, name: &Name, is_cell: bool) -> Compiled<LocalVariable> {
        if self.frame().is_declared_here(&name.text) {
            return Err(SyntaxError::new(
                name.span,
                format!("`{}` is defined twice here", name.text),
            ));
        }
        Ok(self.frame().declare(&name.text, is_cell))
    }

    /// Compiles a class. Returns it with the captures of its objects.
    fn class(
        &mut self,
        name: &str,
        kind: ClassKind,
        params: &[Name],
        body: &[Statement],
    ) -> Compiled<(ClassId, Vec<NameAccess>)> {
        let id = ClassId(self.classes.len() as u32);
        self.classes.push(None);
        let mut fields: Vec<String> = Vec::new();
        let mut methods: Vec<&Method> = Vec::new();
        for statement in body {
            let names = match statement {
                Statement::Def { name, .. } => std::slice::from_ref(name),
                Statement::DefList { names, .. } => names,
                Statement::Method(method) => {
                    if methods
                        .iter()
                        .any(|other| other.name.text == method.name.text)
                    {
                        let message =
                            format!("the method `{}` is defined twice here", method.name.text);
                        return Err(SyntaxError::new(method.name.span, message));
                    }
                    methods.push(method);
                    continue;
                }
                Statement::Expr(_) => continue,
            };
            for name in names {
                if fields.contains(&name.text) {
                    let message = format!("the field `{}` is defined twice here", name.text);
                    return Err(SyntaxError::new(name.span, message));
                }
                fields.push(name.text.clone());
            }
        }
        for param in params {
            if !fields.contains(&param.text) {
                fields.push(param.text.clone());
            }
        }
        let names = methods
            .iter()
            .map(|method| method.name.text.clone())
            .collect();
        self.scopes.push(Scope::Object {
            fields: fields.clone(),
            methods: names,
            is_closed: kind != ClassKind::Object,
            captures: Vec::new(),
        });
        let mut compiled = HashMap::new();
        for method in methods {
            let (code, _) = self.code(
                &method.name.text,
                method.span,
                &method.params,
                &method.body,
                BodyKind::Method,
            )?;
            let selector = self.selector(&method.name.text);
            compiled.insert(selector, code);
        }
        let span = body.first().map_or(Span::default(), Statement::span);
        let (init, _) = self.code(name, span, params, body, BodyKind::Init)?;
        let Some(Scope::Object { captures, .. }) = self.scopes.pop() else {
            unreachable!("scopes are pushed and popped in pairs")
        };
        self.classes[id.0 as usize] = Some(Class {
            kind,
            name: name.to_owned(),
            fields,
            methods: compiled,
            init,
        });
        Ok((id, captures.into_iter().map(|(_, access)| access).collect()))
    }

    /// Initialises the fields of `this` in order, and returns `this`.
    fn init(&mut self, span: Span, body: &[Statement]) -> Compiled {
        // Parameters are also fields.
        let params = self.frame().body.params;
        for local in 1..=params {
            let name = self.frame().name_of(local);
            self.emit(span, Instruction::Local(0));
            self.variable(span, &name)?;
            let slot = self.field(&name);
            self.emit(span, Instruction::SetSlot(slot));
            self.emit(span, Instruction::Pop);
        }
        self.frame().forget_all();
        for statement in body {
            self.line(statement.span());
            match statement {
                Statement::Def { name, value } => {
                    if let Some(value) = value {
                        self.emit(name.span, Instruction::Local(0));
                        self.expr(value)?;
                        let slot = self.field(&name.text);
                        self.emit(name.span, Instruction::SetSlot(slot));
                        self.emit(name.span, Instruction::Pop);
                    }
                }
                Statement::DefList { names, value } => {
                    self.expr(value)?;
                    self.emit(value.span, Instruction::Unpack(names.len() as u32));
                    for name in names {
                        let slot = self.field(&name.text);
                        let holding = self.frame().temporary();
                        self.emit(name.span, Instruction::SetLocal(holding));
                        self.emit(name.span, Instruction::Local(0));
                        self.emit(name.span, Instruction::Local(holding));
                        self.emit(name.span, Instruction::SetSlot(slot));
                        self.emit(name.span, Instruction::Pop);
                    }
                }
                Statement::Method(_) => {}
                Statement::Expr(expr) => {
                    self.expr(expr)?;
                    self.emit(expr.span, Instruction::Pop);
                }
            }
        }
        self.emit(span, Instruction::Local(0));
        Ok(())
    }

    /// Returns a field of the object whose initialisation is being compiled.
    fn field(&self, name: &str) -> u32 {
        match self.scopes.iter().rev().nth(1) {
            Some(Scope::Object { fields, .. }) => fields
                .iter()
                .position(|field| field == name)
                .expect("all fields were collected")
                as u32,
            _ => unreachable!("an initialisation is within an object"),
        }
    }

    fn line(&mut self, span: Span) {
        if let Some(source) = self.source {
            let line = source.site(span.start).line;
            self.lines.push(line);
            self.emit(span, Instruction::Line(line));
        }
    }

    /// Compiles statements in their own scope; leaves the value of the last one on the stack.
    fn statements(&mut self, span: Span, body: &[Statement]) -> Compiled {
        let outer = self.frame().enter();
        // Local functions can call each other, regardless of their order.
        for statement in body {
            if let Statement::Method(method) = statement {
                let place = self.declare(&method.name, true)?;
                self.emit(method.name.span, Instruction::Push(Value::Null));
                self.emit(method.name.span, Instruction::SetLocal(place.local));
                self.emit(method.name.span, Instruction::Box(place.local));
            }
        }
        for (at, statement) in body.iter().enumerate() {
            if at > 0 {
                self.emit(statement.span(), Instruction::Pop);
            }
            self.statement(statement)?;
        }
        if body.is_empty() {
            self.emit(span, Instruction::Push(Value::Null));
        }
        self.frame().leave(outer);
        Ok(())
    }

    /// Compiles a statement in a method or a block; leaves its value on the stack.
    fn statement(&mut self, statement: &Statement) -> Compiled {
        self.line(statement.span());
        match statement {
            Statement::Def { name, value } => {
                match value {
                    Some(value) => self.expr(value)?,
                    None => self.emit(name.span, Instruction::Push(Value::Null)),
                }
                self.emit(name.span, Instruction::Dup);
                self.define(name)
            }
            Statement::DefList { names, value } => {
                self.expr(value)?;
                self.emit(value.span, Instruction::Dup);
                self.emit(value.span, Instruction::Unpack(names.len() as u32));
                names.iter().try_for_each(|name| self.define(name))
            }
            Statement::Method(method) => {
                let place = self
                    .frame()
                    .find(&method.name.text)
                    .expect("it is declared");
                self.emit(method.span, Instruction::Local(place.local));
                self.block(&method.name.text, method.span, &method.params, &method.body)?;
                self.emit(method.span, Instruction::SetBox);
                Ok(())
            }
            Statement::Expr(expr) => self.expr(expr),
        }
    }

    /// Defines a variable with the value on the stack.
    fn define(&mut self, name: &Name) -> Compiled {
        let place = self.declare(name, false)?;
        self.emit(name.span, Instruction::SetLocal(place.local));
        if place.is_cell {
            self.emit(name.span, Instruction::Box(place.local));
        }
        Ok(())
    }

    fn block(&mut self, name: &str, span: Span, params: &[Name], body: &[Statement]) -> Compiled {
        let (code, captures) = self.code(name, span, params, body, BodyKind::Block)?;
        self.emit(span, Instruction::Local(0));
        for access in &captures {
            self.load_captured(span, access);
        }
        self.emit(span, Instruction::Block(code, captures.len() as u32));
        Ok(())
    }
}
