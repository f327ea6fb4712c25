use canju_records::{File, Format, GameResult, Place, Reason, read};

use crate::{error, gbk, one, told};

const START: &str = "8979695949392919097717866646260600102030405060708012720323436383";

/// KN against KAA: the king of Red on f0 is fifth, its horse second, Black's king 21st, its advisors around it.
fn horse() -> String {
    let mut places = ["99"; 32];
    (places[4], places[1]) = ("59", "03");
    (places[16 + 4], places[16 + 3], places[16 + 5]) = ("42", "32", "41");
    places.concat()
}

#[test]
fn a_game_with_branches_and_comments() {
    let text = format!(
        "text before\n[DhtmlXQ]\n[DhtmlXQ_ver]www_dpxq_com[/DhtmlXQ_ver]\n[DhtmlXQ_title]第一局[/DhtmlXQ_title]\n\
         [DhtmlXQ_event]测试[/DhtmlXQ_event]\n[DhtmlXQ_red]甲[/DhtmlXQ_red]\n[DhtmlXQ_black]乙[/DhtmlXQ_black]\n\
         [DhtmlXQ_result]红胜[/DhtmlXQ_result]\n[DhtmlXQ_binit]{START}[/DhtmlXQ_binit]\n\
         [DhtmlXQ_move_1_3_2]8988[/DhtmlXQ_move_1_3_2]\n\
         [DhtmlXQ_movelist]774770627967[/DhtmlXQ_movelist]\n\
         [DhtmlXQ_move_0_2_1]10227967[/DhtmlXQ_move_0_2_1]\n\
         [DhtmlXQ_comment0]开始||前[/DhtmlXQ_comment0]\n[DhtmlXQ_comment2]二[/DhtmlXQ_comment2]\n\
         [DhtmlXQ_comment1_2]变[/DhtmlXQ_comment1_2]\n[DhtmlXQ_comment2_3]变 &lt;中&gt; 变[/DhtmlXQ_comment2_3]\n[/DhtmlXQ]\n"
    );
    for bytes in [text.clone().into_bytes(), gbk(&text), text.replace('\n', "").into_bytes()] {
        let record = one(&bytes);
        assert_eq!((record.title.as_str(), record.event.as_str()), ("第一局", "测试"));
        assert_eq!((record.red.as_str(), record.black.as_str(), record.result), ("甲", "乙", GameResult::RedWins));
        assert_eq!(told(&record), "{开始\n前} h2e2 h9g7 {二} ( b9c7 {变} h0g2 ( i0i1 {变 <中> 变} ) ) h0g2");
    }
}

/// As pages of about 2005 have it.
#[test]
fn branches_in_the_list_of_moves() {
    let game = |moves: &str| {
        one(format!("[DhtmlXQ_binit]{START}[/DhtmlXQ_binit]{moves}[DhtmlXQ_comment1_2]b[/DhtmlXQ_comment1_2]")
            .as_bytes())
    };
    let tags = "[DhtmlXQ_movelist]774770627967[/DhtmlXQ_movelist][DhtmlXQ_move_0_2_1]10227967[/DhtmlXQ_move_0_2_1]\
                [DhtmlXQ_move_1_3_2]8988[/DhtmlXQ_move_1_3_2]";
    let wanted = told(&game(tags));
    assert!(wanted.contains("( b9c7 {b} h0g2 ( i0i1 ) )"), "{wanted}");
    for list in [
        "[0_1_0]774770627967[/0_1_0][0_2_1]10227967[/0_2_1][1_3_2]8988[/1_3_2]",
        "774770627967[0_2_1]10227967[/0_2_1]\n[1_3_2]8988[/1_3_2]",
    ] {
        let record = game(&format!("[DhtmlXQ_movelist]{list}[/DhtmlXQ_movelist]"));
        assert_eq!((told(&record), record.warnings.len()), (wanted.clone(), 0), "{list}");
    }
    let odd = "[DhtmlXQ_movelist][0_1_0]77477062[/0_1_0][0_2]1022[/0_2][/DhtmlXQ_movelist]";
    let record = read(odd.as_bytes()).unwrap().records.remove(0);
    assert_eq!(told(&record), "h2e2 h9g7");
    assert!(record.warnings[0].to_string().contains("passed over"), "{:?}", record.warnings);
}

#[test]
fn tags_that_do_not_match_are_borne_with() {
    let text = format!(
        "[dhtmlxq]\n[DhtmlXQ_blacktime]5[/DhtmlXQ_time]\n[DhtmlXQ_title]open\n[DhtmlXQ_binit]{}[/DhtmlXQ_init]\n\
         [DhtmlXQ_movelist]0311\n4152[/DhtmlXQ_move]\n[DhtmlXQ_comment1][FEN \"x\"] said[/DhtmlXQ_comment0]",
        horse()
    );
    let record = one(text.as_bytes());
    assert_eq!((record.title.as_str(), record.start.to_fen().as_str()), ("open", "9/4a4/3ak4/N8/9/9/9/9/9/5K3 w"));
    assert_eq!(told(&record), "a6b8 {[FEN \"x\"] said} e8f7");
}

#[test]
fn the_first_mover_is_whoever_moves_first() {
    let side = |moves: &str| {
        let text = format!("[DhtmlXQ_binit]{}[/DhtmlXQ_binit][DhtmlXQ_movelist]{moves}[/DhtmlXQ_movelist]", horse());
        one(text.as_bytes()).start.turn().to_char()
    };
    assert_eq!(["0311", "4152", ""].map(side), ['w', 'b', 'w']);
    // Red's chariot checks: it is Black's turn.
    let mut places = ["99"; 32];
    (places[4], places[0], places[20]) = ("49", "59", "50");
    let text = format!("[DhtmlXQ_binit]{}[/DhtmlXQ_binit]", places.concat());
    assert_eq!(one(text.as_bytes()).start.to_fen(), "5k3/9/9/9/9/9/9/9/9/4KR3 b");
    let fen = "[DhtmlXQ_fen]5k3/9/9/9/2b6/6N2/9/9/9/4K4 b[/DhtmlXQ_fen][DhtmlXQ_movelist][/DhtmlXQ_movelist]";
    assert_eq!(one(fen.as_bytes()).start.to_fen(), "5k3/9/9/9/2b6/6N2/9/9/9/4K4 b");
}

#[test]
fn several_games_without_a_frame() {
    let game =
        |title: &str| format!("[DhtmlXQ_title]{title}[/DhtmlXQ_title][DhtmlXQ_movelist]7747[/DhtmlXQ_movelist]\n");
    let file = read((game("a") + &game("b")).as_bytes()).unwrap();
    assert_eq!(file.format, Format::Dhtml);
    let all: Vec<_> = file.records.iter().map(|r| (r.title.as_str(), r.place, told(r))).collect();
    assert_eq!(all, [("a", Place::Line(1), "h2e2".into()), ("b", Place::Line(2), "h2e2".into())]);
    let framed = format!("[DhtmlXQ]{}[/DhtmlXQ]\n[DhtmlXQ]{}[/DhtmlXQ]", game("a"), game("b"));
    assert_eq!(read(framed.as_bytes()).unwrap().records.len(), 2);
}

#[test]
fn what_does_not_fit_is_told() {
    let read_one = |text: &str| {
        let File { mut records, .. } = read(text.as_bytes()).unwrap();
        let record = records.remove(0);
        (told(&record), record.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    let (moves, warnings) = read_one("[DhtmlXQ_movelist]774777477062[/DhtmlXQ_movelist]");
    assert_eq!(moves, "h2e2");
    assert!(warnings.starts_with("line 1: `h2e2` is not a legal move in rnbakabnr"), "{warnings}");
    let (moves, warnings) = read_one("[DhtmlXQ_movelist]77479999[/DhtmlXQ_movelist]");
    assert_eq!(moves, "h2e2");
    assert!(warnings.contains("`9999` in branch 0 is no move"), "{warnings}");
    let odd = "[DhtmlXQ_movelist]7747\n[DhtmlXQ_move_5_1_6]7747\n[DhtmlXQ_move_0_9_7]7747\n[DhtmlXQ_comment8]x\n[DhtmlXQ_move_0_1_7]1747";
    let (moves, warnings) = read_one(odd);
    assert_eq!(moves, "h2e2");
    for wanted in [
        "line 2: branch 6 hangs on branch 5",
        "line 3: branch 7 begins at ply 9 of branch 0",
        "line 4: a comment on ply 8 of branch 0",
        "line 5: one too many",
    ] {
        assert!(warnings.contains(wanted), "{wanted}: {warnings}");
    }
    let short = error(b"\n[DhtmlXQ_binit]0919[/DhtmlXQ_binit]");
    assert_eq!((short.place, short.reason), (Place::Line(2), Reason::Binit(4)));
    let empty =
        error("[DhtmlXQ_binit]".to_owned().as_bytes().iter().copied().chain([b'9'; 64]).collect::<Vec<_>>().as_slice());
    assert!(empty.to_string().contains("Red has no king"), "{empty}");
    assert_eq!(error(b"[DhtmlXQ_title]x[/DhtmlXQ_title]").reason, Reason::Empty);
}

/// Whatever is cut off is told, and no file that closes no tag is suspected.
#[test]
fn a_tag_that_is_cut_off_is_told() {
    let binit = format!("[DhtmlXQ_binit]{}[/DhtmlXQ_binit]\n", horse());
    for (rest, moves, name, text) in [
        ("[DhtmlXQ_movelist", "", "cut_tag", "[DhtmlXQ_movelist"),
        ("[DhtmlXQ_movel", "", "cut_tag", "[DhtmlXQ_movel"),
        ("[DhtmlXQ_movelist 03114150[/DhtmlXQ_movelist]", "", "cut_tag", "[DhtmlXQ_movelist"),
        ("[DhtmlXQ_movelist]03114152", "a6b8 e8f7", "open_tag", "[DhtmlXQ_movelist]"),
    ] {
        let record = read((binit.clone() + rest).as_bytes()).unwrap().records.remove(0);
        let [warning] = &record.warnings[..] else { panic!("{rest}: {:?}", record.warnings) };
        assert_eq!((told(&record).as_str(), warning.place), (moves, Place::Line(2)), "{rest}");
        assert_eq!((warning.fault.name(), warning.fault.text().as_deref()), (name, Some(text)), "{rest}");
    }
    let open = binit.replace("[/DhtmlXQ_binit]", "") + "[DhtmlXQ_movelist]03114152";
    assert_eq!(told(&one(open.as_bytes())), "a6b8 e8f7");
}
