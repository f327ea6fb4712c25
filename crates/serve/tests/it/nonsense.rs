//! Whatever is asked, the answer is one or says what is wrong: never a failure of the server.

use axum::body::Body;
use axum::http::Request;

use crate::{DRAWN, KRK, MISSING, get, post, send, server};

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// FENs with some letters changed, moved or left out, as an address has them.
fn mangled(dice: &mut Dice) -> String {
    const LETTERS: &[u8] = b"KABRNCPkabrncp123456789/ wb-x%0";
    let fens = [KRK, DRAWN, MISSING, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"];
    let mut fen = fens[dice.below(fens.len())].as_bytes().to_vec();
    for _ in 0..1 + dice.below(3) {
        let (at, other) = (dice.below(fen.len()), dice.below(fen.len()));
        match dice.below(4) {
            0 => fen[at] = LETTERS[dice.below(LETTERS.len())],
            1 => fen.swap(at, other),
            2 => fen.insert(at, LETTERS[dice.below(LETTERS.len())]),
            _ => drop(fen.remove(at)),
        }
    }
    String::from_utf8(fen).unwrap().replace('%', "%25").replace(' ', "+")
}

#[tokio::test]
async fn mangled_positions_are_answered_or_refused() {
    let (server, mut dice) = (server(), Dice(0x6361_6e6a_7531));
    let mut told = [0; 2];
    for _ in 0..1500 {
        let fen = mangled(&mut dice);
        for path in ["/v1/moves?fen=", "/v1/line?metric=dtc&fen=", "/chessdb?action=queryall&egtbmetric=dtc&board="] {
            let answer = get(&server, &format!("{path}{fen}")).await;
            match answer.status.as_u16() {
                200 => told[0] += 1,
                400 => told[1] += 1,
                status => panic!("{status}: {path}{fen}: {}", answer.text()),
            }
        }
    }
    // Some are positions and some are none.
    assert!(told.iter().all(|&n| n > 500), "{told:?}");
}

#[tokio::test]
async fn odd_requests_are_refused() {
    let server = server();
    for path in
        ["/v1/probe?fen=%ff%00", "/v1/probe?fen=a&fen=b", "/v1/probe?%zz", "/v1/line?fen", "/v1/endgames/%e5%b8%85"]
    {
        assert_eq!(get(&server, path).await.status, 400, "{path}");
    }
    for body in
        ["[]", "{\"positions\":[{}]}", "{\"positions\":[{\"fen\":1}]}", "\u{feff}{}", "{\"positions\":[],\"moves\":1}"]
    {
        assert_eq!(post(&server, "/v1/probe", body).await.status, 400, "{body}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(post(&server, "/v1/probe", deep).await.status, 400);
    let request =
        Request::get("/v1/info").header("if-none-match", "W/\",,\"").header("accept-encoding", "br;q=x, gzip;q=0");
    assert_eq!(send(&server, request.body(Body::empty()).unwrap()).await.status, 200);
}

/// They could be indexed, which would take hundreds of megabytes for each.
#[tokio::test]
async fn large_endgames_without_a_table_are_missing() {
    let server = server();
    for fen in ["3k1r1n1/9/9/9/9/9/9/9/9/4KRC2 w", "3k5/9/9/9/4p4/9/P1P6/9/9/4KRC2 w"] {
        let answer = get(&server, &format!("/v1/moves?fen={}", fen.replace(' ', "+"))).await;
        assert_eq!(answer.status, 200, "{fen}: {}", answer.text());
        assert_eq!(answer.json()["unknown"]["reason"], "missing", "{fen}");
    }
}
