//! Executes instructions, one match arm each. Those that implement a rule of the calculus return it.

use super::{Evaluated, Machine, Raised, Rule};
use crate::at::{
    actor::HeapEntry,
    code::{ClassKind, Instruction, SiteId},
    value::Value,
};

impl Machine<'_> {
    /// Executes one instruction. Returns the rule that it implements, if any.
    pub(super) fn execute(
        &mut self,
        instruction: Instruction,
        site: SiteId,
    ) -> Evaluated<Option<Rule>> {
        self.go_on();
        Ok(match instruction {
            Instruction::Line(_) => None,
            Instruction::Push(value) => {
                self.push(value);
                None
            }
            Instruction::Pop => {
                self.pop();
                None
            }
            Instruction::Dup => {
                let value = self.pop();
                self.push(value);
                self.push(value);
                None
            }
            Instruction::Local(local) => {
                let value = self.frame().1[local as usize];
                self.push(value);
                None
            }
            Instruction::SetLocal(local) => {
                let value = self.pop();
                self.frame().1[local as usize] = value;
                Some(Rule::Let)
            }
            Instruction::Box(local) => {
                let value = self.frame().1[local as usize];
                let cell = self.actor.alloc(HeapEntry::Cell(value));
                self.frame().1[local as usize] = cell;
                None
            }
            Instruction::Unbox => {
                let cell = self.pop();
                let Some(&HeapEntry::Cell(value)) = self.actor.entry(cell) else {
                    unreachable!("the compiler knows what is in a cell")
                };
                self.push(value);
                None
            }
            Instruction::SetBox => {
                let value = self.pop();
                let Value::Near(cell) = self.pop() else {
                    unreachable!("cells are near")
                };
                *self.actor.get_mut(cell) = HeapEntry::Cell(value);
                self.push(value);
                Some(Rule::Let)
            }
            Instruction::Slot(slot) => {
                let object = self.pop();
                let Some(HeapEntry::Object { fields, .. }) = self.actor.entry(object) else {
                    unreachable!("the compiler knows where `this` has slots")
                };
                let value = fields[slot as usize];
                self.push(value);
                Some(Rule::FieldAccess)
            }
            Instruction::SetSlot(slot) => {
                let value = self.pop();
                let object = self.pop();
                self.fields(object)[slot as usize] = value;
                self.push(value);
                Some(Rule::FieldUpdate)
            }
            Instruction::Field(name) => {
                let object = self.pop();
                let value = self.field(object, name, site)?;
                self.push(value);
                Some(Rule::FieldAccess)
            }
            Instruction::SetField(name) => {
                let value = self.pop();
                let object = self.pop();
                let slot = self.slot(object, name, site)?;
                self.fields(object)[slot] = value;
                self.push(value);
                Some(Rule::FieldUpdate)
            }
            Instruction::Jump(to) => {
                *self.frame().0 = to;
                None
            }
            Instruction::JumpUnless(to) => {
                match self.pop() {
                    Value::Bool(true) => {}
                    Value::Bool(false) => *self.frame().0 = to,
                    other => {
                        let text = self.show(other);
                        return Err(self.error(
                            site,
                            &format!("a condition is true or false, and this is {text}"),
                        ));
                    }
                }
                None
            }
            Instruction::List(count) => {
                let values = self.pop_many(count);
                let list = self.actor.alloc(HeapEntry::List(values));
                self.push(list);
                Some(Rule::NewIsolate)
            }
            Instruction::Index => {
                let index = self.pop();
                let list = self.pop();
                let (id, at) = self.element(list, index, site)?;
                let HeapEntry::List(values) = self.actor.get(id) else {
                    unreachable!("it is a list")
                };
                let value = values[at];
                self.push(value);
                Some(Rule::FieldAccess)
            }
            Instruction::SetIndex => {
                let value = self.pop();
                let index = self.pop();
                let list = self.pop();
                let (id, at) = self.element(list, index, site)?;
                let HeapEntry::List(values) = self.actor.get_mut(id) else {
                    unreachable!("it is a list")
                };
                values[at] = value;
                self.push(value);
                Some(Rule::FieldUpdate)
            }
            Instruction::Unpack(count) => {
                let list = self.pop();
                match self.actor.entry(list) {
                    Some(HeapEntry::List(values)) if values.len() == count as usize => {
                        let values: Vec<Value> = values.iter().rev().copied().collect();
                        self.frame().2.extend(values);
                    }
                    _ => {
                        let text = self.show(list);
                        return Err(self.error(
                            site,
                            &format!("a list of {count} is needed here, not {text}"),
                        ));
                    }
                }
                None
            }
            Instruction::Invoke(name, count) => {
                let args = self.pop_many(count);
                let receiver = self.pop();
                self.invoke(receiver, name, args, site)?;
                Some(Rule::Invoke)
            }
            Instruction::Apply(count) => {
                let args = self.pop_many(count);
                let block = self.pop();
                self.apply(block, args, site)?;
                Some(Rule::Invoke)
            }
            Instruction::Block(code, captured) => {
                let captured = self.pop_many(captured + 1);
                let block = self.actor.alloc(HeapEntry::Block { code, captured });
                self.push(block);
                Some(Rule::NewObject)
            }
            Instruction::Object {
                class,
                captured,
                params,
            } => {
                let params = self.pop_many(params);
                let captured = self.pop_many(captured);
                let kind = self.code.class(class).kind;
                self.new_object(class, captured, params, site)?;
                Some(match kind {
                    ClassKind::Isolate => Rule::NewIsolate,
                    ClassKind::Object | ClassKind::Actor => Rule::NewObject,
                })
            }
            Instruction::MakeFuture => {
                let (future, resolver) = self.make_future(site);
                self.push(future);
                self.push(resolver);
                Some(Rule::MakeFuture)
            }
            Instruction::Catch(to) => {
                let (_, _, stack, handlers) = self.frame();
                handlers.push((to, stack.len() as u32));
                None
            }
            Instruction::EndCatch => {
                self.frame().3.pop();
                None
            }
            Instruction::Raise => {
                let error = self.pop();
                return Err(Raised(error));
            }
            Instruction::Return => {
                let value = self.pop();
                self.turn().frames.pop();
                self.result(value);
                None
            }
            Instruction::Send { .. } | Instruction::Register | Instruction::Actor { .. } => {
                unreachable!("a step ends before what concerns others")
            }
        })
    }
}
