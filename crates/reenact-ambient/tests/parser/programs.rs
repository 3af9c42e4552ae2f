//! Whole programs.

use expect_test::expect;

use crate::check;

#[test]
fn listing_1_of_the_paper() {
    let text = include_str!("../../../../examples/ambient/listing1.at");
    check(
        text,
        expect![[r#"
        (def makeMath() {(actor || {(def result 0); (def double(x) {(:= result (.+ x [x]))}); (def getResult() {result})})})
        (def makeClient1(math) {(actor |math| {(def start() {(<-double math [12]); (when (<->getResult math []) (block |res| {(.println system [res])}))})})})
        (def makeClient2(math) {(actor |math| {(def start() {(<-double math [33])})})})
        (def math makeMath())
        (def client1 makeClient1(math))
        (def client2 makeClient2(math))
        (<-start client1 [])
        (<-start client2 [])
    "#]],
    );
}
