use canju_xiangqi::{Color, Material, MaterialError, Position, Role, Side};
use proptest::prelude::*;

use crate::arena::anything;

fn material(name: &str) -> Material {
    name.parse().unwrap()
}

fn names(materials: &[Material]) -> String {
    materials.iter().map(Material::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn names_are_read_in_many_forms() {
    for (text, name) in [
        ("KABCPKAABB", "KABCPKAABB"),
        ("kpcbakbbaa", "KABCPKAABB"),
        ("KCEKHE", "KBCKBN"),
        ("KRvKN", "KRKN"),
        ("rk - nk", "KRKN"),
        ("RK_K", "KRK"),
        (" KK ", "KK"),
        ("KK v", "KK"),
    ] {
        assert_eq!(text.parse::<Material>().map(|material| material.to_string()), Ok(name.to_owned()), "{text}");
    }
}

#[test]
fn errors_say_what_and_where() {
    use MaterialError::*;
    for (text, error) in [
        ("", Empty),
        (" - ", Empty),
        ("KRKX", Letter { letter: 'X', at: 4 }),
        ("KR", NoKing(Side::Second)),
        ("KR-N", NoKing(Side::Second)),
        ("R-KN", NoKing(Side::First)),
        ("RKKN", NoKing(Side::First)),
        ("KKR-KN", TwoKings(Side::First)),
        ("KRKNK", ThirdSide { at: 5 }),
        ("KR-KN-K", ThirdSide { at: 7 }),
        ("KAAAK", TooMany { side: Side::First, role: Role::Advisor }),
        ("KKPPPPPP", TooMany { side: Side::Second, role: Role::Soldier }),
    ] {
        assert_eq!(text.parse::<Material>(), Err(error), "{text}");
    }
}

#[test]
fn the_stronger_side_comes_first() {
    for name in ["KCKN", "KANKC", "KRKAC", "KNKPP", "KPKBB", "KRKCN", "KRKR", "KAKB", "KK", "KAAKBB", "KABKAA", "KRKNN"]
    {
        let named = material(name);
        let swapped = named.swap();
        if named.is_symmetric() {
            assert_eq!(named.canonical(), (named, false));
            continue;
        }
        let (canonical, was_swapped) = swapped.canonical();
        assert!(canonical.is_canonical() && swapped.is_canonical() != was_swapped);
        assert_eq!(canonical, named.canonical().0);
    }
    for (name, canonical) in [
        ("KNKC", "KCKN"),
        ("KCKAN", "KANKC"),
        ("KACKR", "KRKAC"),
        ("KPPKN", "KNKPP"),
        ("KBBKP", "KPKBB"),
        ("KAKAA", "KAAKA"),
        ("KBKA", "KAKB"),
        ("KCNKR", "KRKCN"),
    ] {
        assert_eq!(material(name).canonical(), (material(canonical), true), "{name}");
    }
}

#[test]
fn captures_take_one_piece() {
    let left = |name: &str| -> Vec<Material> { material(name).captures().iter().map(|(_, left)| *left).collect() };
    assert_eq!(names(&left("KRPPKAC")), "KPPKAC KRPKAC KRPPKC KRPPKA");
    assert_eq!(material("KK").captures(), []);
    // Without an attacker Black takes nothing that stays at home.
    assert_eq!(names(&left("KABCPKAABB")), "KABPKAABB KABCKAABB KABCPKABB KABCPKAAB");
    assert_eq!(names(&left("KAKAABB")), "");
    assert_eq!(names(&left("KACKP")), "KCKP KAKP KACK");
}

#[test]
fn counts() {
    let named = material("KABCPKAABB");
    assert_eq!(named.men(), 10);
    assert_eq!(named.count(Side::First, Role::Cannon), 1);
    assert_eq!(named.count(Color::Black, Role::Elephant), 2);
    assert_eq!(Material::of(&Position::initial()).to_string(), "KAABBRRNNCCPPPPPKAABBRRNNCCPPPPP");
}

proptest! {
    #[test]
    fn written_then_read(position in anything()) {
        let named = Material::of(&position);
        prop_assert_eq!(named.to_string().parse(), Ok(named));
        let (canonical, swapped) = named.canonical();
        prop_assert_eq!(swapped, !named.is_canonical());
        prop_assert_eq!(if swapped { canonical.swap() } else { canonical }, named);
        prop_assert!(named.is_canonical() || named.swap().is_canonical());
        prop_assert_eq!(named.is_symmetric(), named.is_canonical() && named.swap().is_canonical());
    }
}
