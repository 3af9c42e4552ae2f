//! Calls of methods and blocks, and access to fields and list elements.

use super::{Evaluated, MAX_FRAMES, Machine, Raised};
use crate::at::{
    actor::{Frame, HeapEntry},
    code::{ClassId, CodeId, SelectorId, SiteId},
    value::{HeapId, Value},
};

impl Machine<'_> {
    pub(super) fn call(
        &mut self,
        code: CodeId,
        this: Value,
        args: Vec<Value>,
        captured: &[Value],
        site: SiteId,
    ) -> Evaluated {
        let body = self.code.body(code);
        if body.params as usize != args.len() {
            let text = format!(
                "`{}` takes {} and was given {}",
                body.name,
                counted(body.params as usize),
                args.len()
            );
            return Err(self.error(site, &text));
        }
        if self.turn().frames.len() >= MAX_FRAMES {
            return Err(self.error(site, &format!("calls are nested deeper than {MAX_FRAMES}")));
        }
        let mut locals = Vec::with_capacity(body.locals as usize);
        locals.push(this);
        locals.extend(args);
        locals.resize(body.locals as usize, Value::Null);
        for (&local, &value) in body.captured.iter().zip(captured) {
            locals[local as usize] = value;
        }
        let frame = Frame::Code {
            code,
            pc: 0,
            locals,
            stack: Vec::new(),
            handlers: Vec::new(),
        };
        self.turn().frames.push(frame);
        Ok(())
    }

    pub(super) fn new_object(
        &mut self,
        class: ClassId,
        captured: Vec<Value>,
        params: Vec<Value>,
        site: SiteId,
    ) -> Evaluated {
        let description = self.code.class(class);
        let mut fields = vec![Value::Null; description.fields.len()];
        fields.extend(captured);
        let object = self.actor.alloc(HeapEntry::Object { class, fields });
        self.call(description.init, object, params, &[], site)
    }

    pub(crate) fn invoke(
        &mut self,
        receiver: Value,
        name: SelectorId,
        args: Vec<Value>,
        site: SiteId,
    ) -> Evaluated {
        let class = match self.actor.entry(receiver) {
            Some(&HeapEntry::Object { class, .. }) => class,
            Some(HeapEntry::Block { .. }) if name == self.code.names.apply => {
                return self.apply(receiver, args, site);
            }
            _ => {
                if let Some(value) =
                    self.builtin(receiver, self.code.selector(name), &args, site)?
                {
                    self.result(value);
                    return Ok(());
                }
                let Some(class) = self.library_class(receiver) else {
                    return Err(self.no_method(receiver, name, site));
                };
                class
            }
        };
        if let Some(&code) = self.code.class(class).methods.get(&name) {
            return self.call(code, receiver, args, &[], site);
        }
        if let Some(value) = self.builtin(receiver, self.code.selector(name), &args, site)? {
            self.result(value);
            return Ok(());
        }
        // A block in a field can be called like a method.
        match self.slot(receiver, name, site) {
            Ok(slot) => {
                let block = self.fields(receiver)[slot];
                self.apply(block, args, site)
            }
            Err(_) => Err(self.no_method(receiver, name, site)),
        }
    }

    pub(super) fn apply(&mut self, block: Value, mut args: Vec<Value>, site: SiteId) -> Evaluated {
        let Some(HeapEntry::Block { code, captured }) = self.actor.entry(block) else {
            let text = self.show(block);
            return Err(self.error(
                site,
                &format!("only a block can be called, and this is {text}"),
            ));
        };
        let (code, captured) = (*code, captured.clone());
        if self.code.body(code).params == 0 {
            // A block without parameters ignores its arguments.
            args.clear();
        }
        self.call(code, captured[0], args, &captured[1..], site)
    }

    pub(super) fn fields(&mut self, object: Value) -> &mut Vec<Value> {
        match object {
            Value::Near(id) => match self.actor.get_mut(id) {
                HeapEntry::Object { fields, .. } => fields,
                other => unreachable!("{other:?} has no fields"),
            },
            other => unreachable!("{other:?} has no fields"),
        }
    }

    pub(super) fn field(
        &mut self,
        object: Value,
        name: SelectorId,
        site: SiteId,
    ) -> Evaluated<Value> {
        let slot = self.slot(object, name, site)?;
        Ok(self.fields(object)[slot])
    }

    pub(super) fn slot(
        &mut self,
        object: Value,
        name: SelectorId,
        site: SiteId,
    ) -> Evaluated<usize> {
        let text = self.code.selector(name);
        let found = match self.actor.entry(object) {
            Some(HeapEntry::Object { class, .. }) => self
                .code
                .class(*class)
                .fields
                .iter()
                .position(|field| field == text),
            _ => None,
        };
        found.ok_or_else(|| match object {
            Value::Far(_) => self.error(
                site,
                &format!("`{text}` belongs to another actor; only `<-` reaches it"),
            ),
            _ => {
                let what = self.show(object);
                self.error(site, &format!("{what} has no field `{text}`"))
            }
        })
    }

    pub(super) fn element(
        &mut self,
        list: Value,
        index: Value,
        site: SiteId,
    ) -> Evaluated<(HeapId, usize)> {
        if let Value::Near(id) = list
            && let HeapEntry::List(values) = self.actor.get(id)
        {
            return match index {
                Value::Int(at) if at >= 1 && at as usize <= values.len() => {
                    Ok((id, at as usize - 1))
                }
                _ => {
                    let (length, text) = (values.len(), self.show(index));
                    Err(self.error(
                        site,
                        &format!("{text} is not within a list of {length}, which begins at 1"),
                    ))
                }
            };
        }
        let text = self.show(list);
        Err(self.error(
            site,
            &format!("only lists have elements, and this is {text}"),
        ))
    }

    fn no_method(&self, receiver: Value, name: SelectorId, site: SiteId) -> Raised {
        let name = self.code.selector(name);
        let text = match (receiver, self.actor.entry(receiver)) {
            (Value::Far(_), _) => format!("`{name}` is of another actor; only `<-` reaches it"),
            (_, Some(HeapEntry::Future(_))) => {
                format!("a future has no method `{name}`; use `<-` or `when:becomes:`")
            }
            _ => format!("{} has no method `{name}`", self.show(receiver)),
        };
        self.error(site, &text)
    }
}

fn counted(params: usize) -> String {
    match params {
        0 => "no arguments".to_owned(),
        1 => "one argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
