//! The parser for conditions, by precedence.
//!
//! The size of conditions is limited, so that no input can exhaust the stack: neither here, nor when the condition is
//! evaluated or dropped.

use super::{Binary, Node};
use crate::{
    Observation,
    observation::Segment,
    syntax::{Scanner, SyntaxError, Token, WordLetters},
};

/// Maximum nesting depth of parentheses and prefix operators.
const DEPTH: usize = 64;
/// Maximum number of binary operators in a condition.
const OPERATORS: usize = 512;

const OPERAND: &str = "a path such as math.result, a number, a text in quotes, true, false, null, \
                       contains(…), length(…) or `(`";

pub(super) fn expression(text: &str, at: usize) -> Result<Node, SyntaxError> {
    let mut parser = Parser {
        scanner: Scanner::new(text, at, WordLetters::Identifiers)?,
        operators: 0,
    };
    let tree = parser.binary(0)?;
    match parser.scanner.peek() {
        Token::End => Ok(tree),
        _ => Err(parser
            .scanner
            .expected("an operator (== != < <= > >= && || + - * / %) or the end")),
    }
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    operators: usize,
}

impl Parser<'_> {
    /// Parses operators that bind at least as strongly as `weakest`.
    fn binary(&mut self, weakest: u8) -> Result<Node, SyntaxError> {
        let mut left = self.unary()?;
        while let Some((strength, operator)) = binary(self.scanner.peek())
            && strength >= weakest
        {
            self.operators += 1;
            if self.operators > OPERATORS {
                let message = format!("a condition can have {OPERATORS} operators at most");
                return Err(self.scanner.error(message));
            }
            self.scanner.next()?;
            let right = self.binary(strength + 1)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, SyntaxError> {
        self.scanner.descend(DEPTH, "a condition")?;
        let node = if self.scanner.sign("!")? {
            Node::Not(Box::new(self.unary()?))
        } else if self.scanner.sign("-")? {
            Node::Minus(Box::new(self.unary()?))
        } else {
            self.operand()?
        };
        self.scanner.ascend();
        Ok(node)
    }

    fn operand(&mut self) -> Result<Node, SyntaxError> {
        if self.scanner.sign("(")? {
            let inner = self.binary(0)?;
            self.scanner.expect(")")?;
            return Ok(inner);
        }
        if matches!(self.scanner.peek(), Token::Sign(_) | Token::End) {
            return Err(self.scanner.expected(OPERAND));
        }
        let value = match self.scanner.next()? {
            Token::Int(value) => Observation::Int(value),
            Token::Float(value) => Observation::Float(value),
            Token::Text(text) => Observation::Text(text),
            Token::Word(word) => match word.as_str() {
                "true" => Observation::Bool(true),
                "false" => Observation::Bool(false),
                "null" => Observation::Null,
                _ if matches!(self.scanner.peek(), Token::Sign("(")) => return self.call(&word),
                _ => return self.path(word),
            },
            Token::Name(name) => return self.path(name),
            Token::Sign(_) | Token::End => Observation::Null, // Excluded above.
        };
        Ok(Node::Value(value))
    }

    fn call(&mut self, name: &str) -> Result<Node, SyntaxError> {
        if !matches!(name, "contains" | "length") {
            let message = format!("there is no function `{name}`, only contains and length");
            return Err(self.scanner.error(message));
        }
        self.scanner.expect("(")?;
        let first = Box::new(self.binary(0)?);
        let node = if name == "length" {
            Node::Length(first)
        } else {
            self.scanner.expect(",")?;
            Node::Contains(first, Box::new(self.binary(0)?))
        };
        self.scanner.expect(")")?;
        Ok(node)
    }

    fn path(&mut self, first: String) -> Result<Node, SyntaxError> {
        let mut path = vec![Segment::Name(first)];
        loop {
            if self.scanner.sign(".")? {
                match self.scanner.peek() {
                    Token::Word(_) | Token::Name(_) => {}
                    _ => return Err(self.scanner.expected("a name")),
                }
                if let Token::Word(name) | Token::Name(name) = self.scanner.next()? {
                    path.push(Segment::Name(name));
                }
            } else if self.scanner.sign("[")? {
                let index = match self.scanner.peek() {
                    Token::Int(index) => usize::try_from(*index).ok(),
                    _ => None,
                };
                let index =
                    index.ok_or_else(|| self.scanner.expected("the number of an item, from 0"))?;
                self.scanner.next()?;
                self.scanner.expect("]")?;
                path.push(Segment::Index(index));
            } else {
                return Ok(Node::Path(path));
            }
        }
    }
}

fn binary(token: &Token) -> Option<(u8, Binary)> {
    let Token::Sign(sign) = token else {
        return None;
    };
    Some(match *sign {
        "||" => (0, Binary::Or),
        "&&" => (1, Binary::And),
        "==" => (2, Binary::Equal),
        "!=" => (2, Binary::Unequal),
        "<" => (2, Binary::Less),
        "<=" => (2, Binary::LessOrEqual),
        ">" => (2, Binary::Greater),
        ">=" => (2, Binary::GreaterOrEqual),
        "+" => (3, Binary::Add),
        "-" => (3, Binary::Subtract),
        "*" => (4, Binary::Multiply),
        "/" => (4, Binary::Divide),
        "%" => (4, Binary::Remainder),
        _ => return None,
    })
}
