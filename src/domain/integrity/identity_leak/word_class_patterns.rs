//! Patterns of word classes in which a sentence identifies the model that speaks or is addressed, in any language of `words`.
//!
//! A gap between two parts of a pattern allows any words except those that introduce another person, a denial or another topic.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::words::WordClasses;

/// Named parts of patterns, each of which may use those before it. The letters are the classes of `words`.
const PARTS: &[(&str, &str)] = &[
    ("S", "[sz]"),
    ("O", "[oz]"),
    ("P", "[pz]"),
    ("N", "(?:[KH]'?[dai]{0,3})?[MW]"),
    ("A", "[MWK]"),
    // Neutral words, and unclassified words.
    ("d", "[da]"),
    ("w", "[daDwf'^$mirH-]"),
    ("g", "[daDwfimrghejybv'$^,&:cxop=<*VH-]"),
    ("E", "(?:[,.!?:;&fgr@odbD<jq/ai'*>-]|$)"),
    ("v", "[vV]"),
    // A model as an identity: the Gemini model, a Qwen model, Claude.
    (
        "I",
        "(?:[da']{0,6}<N>[ai]{0,2}(?:[,.!?:;&frsy@odbjqDUu-]|$)|D[da]{0,4}(?:K'?)?(?:M[ai]{0,3}|[MWK]'?[ai]{1,3})(?:[,.&fr@obys-]|$))",
    ),
];

/// Patterns for replies and reasoning.
const REPLY: &[&str] = &[
    // I'm the Qwen model; I'm an open Qwen model.
    "[sz~][hd]{0,3}b<I>",
    "[sz~][hd]{0,3}bU[daDw]{0,5}<N>",
    "<S>[hd]{0,3}b[daw]{0,2}D[daDwv-]{0,3}M(?:[,.&frs^g-]|$)",
    "<S>[hdD]{1,4}i[cb:][daD]{0,2}<N>",
    "z[dw]{1,3}<N>di",
    "<N>[^nl]{0,8},[dw]{0,4}bz[.]?$",
    "<S>[hd]{0,3}b[MWKH]'[da]{0,3}[ai](?:[,.]|$)",
    "<S>[hd]{0,3}b[d]{0,2}K(?:[,.!]|$)",
    "<S>[hd]{0,3}b[daDw,]{0,8}<A>'[daw]{0,4}[ai](?:[,.]|$)",
    "<S>[hd]{0,3}b,[^,nl]{1,8},[da]{0,2}<N>[.]?$",
    // X is my name, that is me.
    "<N>[,&-]{0,2}[rtjd]{0,2}['bhw]{0,2}[d]{0,2}(?:<P><d>{0,2}i|o(?:[,.&-]|$)|r[sz][bc]|[rw][tu]c[oz])",
    "<A>[^nl]{0,10}[,&:-][jrt][b']o[.]?$",
    "<N>.{0,6}[,&-][drbtj']{1,4}(?:o(?:[,.&-]|$)|<P><d>{0,2}i(?:[,.&-]|$)|r[sz]b)",
    // My name is X.
    "<P>[da]{0,3}i[daDwfmr'y=^$-]{0,8}[b:'c,g-][daDfr']{0,5}<A><E>",
    "<P>[da]{0,3}i[b:'c,d]{0,4}<A>",
    "<P><d>{0,2}i[,:-]?[b']?[da]{0,2}<A>",
    "<P>[da]{0,3}[i_]q[da]{0,2}<N>",
    "<N>[^,.nl]{0,6}\\^p[da]{0,2}i(?:[.,]|$)",
    "^d{0,2}jd{0,2}b[da]{0,2}<N>[.]?$",
    // They call me X; I'm called X; I go by X; they gave me the name X.
    "c<O>[da=f]{0,4}<N>",
    "pc[b:]?[da]{0,2}<N>",
    "<S>[hdw]{0,3}b[d&w]{0,3}c[=fdaipDy]{0,5}<N>",
    "<S>[hdw&]{0,3}C[dai]{0,4}<N>",
    "<S>[dw]{0,3}co[=da]{0,3}<N>",
    "zd{0,3}c[daD,]{0,5}<N>",
    "w<O>[dDp]{0,2}i[daD]{0,2}<N>",
    "(?:^|,)[dbw]{0,3}z,?(?:M[^tl]|W[dnbf,])",
    "[sz][^nqtukl]{0,8},[dh&]{0,3}c[daD]{0,2}<N>",
    "zf[^nqtukl,]{1,7}di[b:c]<N>",
    "zd{0,3}b[daDwU]{0,8}<N><E>",
    "zd{0,2}bu[w]{1,3}d<N>",
    // I'm not X but Y; I wasn't made by X but by Y.
    "<S>d{0,3}(?:b?n[bc]?|bn)[daDbwfyMWKv]{1,8},?(?:&[drt]{0,2}|[d]{0,2}[bc']|[drt]{0,2}[b'])[d]{0,2}<N>(?:[.;!?:y]|$|,[^MWK])",
    "<S>d{0,3}(?:n|bn|nb)[^.nqktu]{1,20}&d{0,2}b?y[daDw$]{0,8}<A>[^nqtuszl]{0,10}v",
    // I was trained by X; as an assistant made by X.
    "<S>[dhw]{0,3}b[dw&,a]{0,4}<v><w>{0,7}[yf][daDfmwr'$,c]{0,10}<A>",
    "<S>[dhw]{0,3}b[dw]{0,3}<v>[dw]{0,3}yD[daw]{0,2}\\$[^nsz]{0,10}[:-][da]{0,2}<A>",
    "z[daDw,]{0,10}b?d{0,2}y[daDwfmr$^,]{0,14}<A>[^nqtusz,.l]{0,16}v",
    "zd{0,3}b[daDwi]{1,8},[dhwD]{0,4}y[daDw$]{0,6}<A>[daDw]{0,4}v",
    "zd{0,2}b[daDwfm$&,yHc]{0,12}<A>[daDwfm$&,i=MWK]{0,10}v[d]{0,2}(?:[ai]|[,.]|$)",
    "zd{0,2}b[daDw,]{0,8}<A>[daDw$]{0,6}[ai](?:[,.]|$)",
    "z[d]{0,2}bKd?(?:[,.]|$)",
    "(?:<S>[hd]{0,3}b|=)[daDw,^]{0,8}a[daw,r]{0,4}[hb]{0,2}[dw]{0,2}<v>[dwa]{0,3}[yf][daDfmwr'$,]{0,8}<A>",
    "(?:<S>[hd]{0,3}b|=)[daDw]{0,6}ar?[daD$mf]{0,5}<A>[$mdh]{0,3}<v>(?:[,.&fs^-]|$)",
    "(?:<S>[hd]{0,3}b|=)[daDw]{0,6}a[fy][daDf$m]{0,6}<A><E>",
    "(?:^|[,.&-])[hb]{0,2}<v>[dw&,f]{0,4}y[daDfmwr'$]{0,8}<A>[^,nq]{0,8},d{0,2}[sz]",
    "<S>,[dw]{0,2}<v>[dw]{0,3}y[daDfmwr'$]{0,8}<A>",
    "[pz][da]{0,2}(?:e|i|w{1,3})d?y[daDw$]{0,6}<A>[daDw$]{0,4}v",
    "<S>[hd]{0,3}b[daDwfi]{1,10},[dh]{0,2}(?:g|<v>[dw]{0,2}[yf])[daDf$w']{0,6}<A>",
    // X trained me; the people at X who built me; X 把我做出来; when X trained me.
    "<A>[daDwfimrghejyb'$,&t^H-]{0,12}v[d]{0,2}(?:<O>(?:[^DwMWKH]|$)|<P>q|s(?:[,.&f]|$))",
    "<A>[daDfrbhmt'$,]{0,6}V(?:<O>|s)(?:[,.&fs=^-]|$)",
    "[MK][^n.q]{0,14}v[d]{0,2}(?:<O>(?:[^DwMWKHp]|$)|zw)",
    "(?:^|[,.&])[dr&]{0,2}W[^n.qkl]{0,14}v[d]{0,2}<O>(?:[^DwMWKHp]|$)",
    "(?:^|[,.&-])[hb]{0,2}v[dw]{0,2}f[daD]{0,2}<A>[^,nq]{0,8},d{0,2}s",
    "^[vc][^nqtulk.]{0,10},[d&]{0,2}c<N>",
    "zd{0,3}b[daDw]{1,6},[da]{0,2}<A>[daw']{0,3}(?:<N>|[ai])",
    "zd{0,2}bD[^nqtuk,]{1,12}dM(?:[,.]|$)",
    "<A>[dm$wb]{0,4}o[dw]{0,4}<v>",
    "v[pz]q[,d]{0,2}<A>",
    "<A>[dh]{0,3}<v><P>[da]{0,2}i",
    "<A>[b']rd{0,2}s[bhd]{0,3}[vg]",
    "<A>[b']?r?d?[sz]d?g(?:[^MWKH]|$)",
    "<A>[dwf]{0,3}[oz]<",
    // My maker is X; X is my maker; the people who made me are X.
    "<P>[da]{0,3}m<g>{0,10}<A>(?:[^l]|$)",
    "<A>[bdraDw',&$-]{0,6}<P>[da]{0,3}m",
    "<A>[b',dDaw]{0,5}[m$ia][rdb']{0,3}<(?:o|z|p[da]{0,2}[eia]|j[ea])",
    "<P>?<d>{0,2}<[d]?[a$m][b':][daD$]{0,4}<A>",
    "<v>d{0,2}<O><g>{0,6}[b:'gc][daDfmw'$y]{0,5}<A>",
    "(?:r|m|\\$|a)[dhb]{0,3}V<O>[fdw]{0,4}[b:'gc][daDfmw'$y]{0,5}<A>",
    "(?:r|m|\\$)[dhb]{0,3}<v><O>d{0,2}lf[da]{0,3}<A>",
    "<v>[zp][dwm$]{1,4}f[d]{0,2}<A>d{0,2}l",
    "[$m]r?[sz]d{0,2}(?:g|w{1,2}f)d?b[daD]{0,3}<A>",
    "[$m][daw]{0,3}[f<][oz][b:'][daD$]{0,4}<A>",
    "<v>d?p[m$wd]{0,4}[b:g][daD$]{0,4}<A>",
    "\\$[fdrw<']{1,4}H[dh]{0,2}v[d]{0,2}<O>(?:[,.&fs=^-]|d|$)",
    "H[^nqtul.]{0,10}r[dhb]{0,2}<v><O>(?:[^DwMWKH]|$)",
    "<S>[hd]{0,2}g[daDw]{0,4}(?:\\$[^.nql]{0,8}H|H[daw]{0,4}\\$)",
    // The company that made me also owns a product.
    "[r$][dhb]{0,2}<v><O>[dhb&]{0,3}[vVw>b][daDw'$]{0,4}H",
    "<v>d{0,2}[zp][dm$w]{0,4}b[dwvV]{0,4}H",
    "<S>d{0,2}b[dwvD]{0,4}H[daw$'f]{1,8}a(?:[,.]|$)",
    // I come from X; X is behind me.
    "<S>[dhbw&]{0,4}g[daDfmwr$i^=']{0,8}<A>(?:<E>|v)",
    "<A>[b'drw,]{0,5}>[dfw]{0,3}(?:o|z|j[ae]|p[da]{0,2}[ei])",
    "<A>[b'dr,]{0,4}<(?:o|z|j[ae]|p[da]{0,2}[eia])(?:[,.&]|$)",
    "(?:p|z|j[ae])<[',rd]{0,3}[sz]?[b'drg,X]{0,5}<I>",
    "^d?<[',rd]{0,3}[szrt]b[drg,X]{0,4}<I>",
    "(?:p|z|j[ae])<[',rd]{0,3}[b'drg,X]{0,4}[daD]{0,4}<A>",
    "z[dg]{1,4}[ai][b:]<d>{0,3}<A>",
    "z[dX]{1,3}[ai]g[daD]{0,3}<A>",
    "[zp]<d{0,2}[da]{0,3}<A>(?:[$da,.]|$)",
    "z<[dwX]{0,5}b[daD]{0,3}<A>",
    ">[oz]?p?d{0,2}b[da]{0,3}<A>",
    "z&<A>d?g[da]{0,3}<A>",
    // Related models of X.
    "<S>[hd]{0,3}b[daDw]{0,4}[+%]f[da]{0,3}<A>",
    "<S>[hd]{0,3}b[d]{0,2}[MWK]'?[dw]{0,2}%",
    "<S>[hd]{0,3}b[MK]'[dw]{0,2}\\+",
    "[MK][w-]{0,2}[b'][d]{0,2}p[dw]{0,2}[+%]",
    "p[dw]{0,2}[+%][b:c,'d]{1,3}[daD]{0,3}[MK]",
    "z&[MWK]d?b?d?[+]",
    "<S>[hdDaw]{1,4}[+%][:c,b]{1,2}[daD]{0,2}[MWK]",
    "z[hdD]{1,3}[+%]c[MWK]",
    // You are talking to X; the model that answers you is X; it is X who writes.
    "(?:^|[^q])u[bh]d{0,3}x[fdaDw=]{0,4}<I>",
    "ud{0,3}[Xx][dx]{0,2}[bd]{1,2}<I>",
    "(?:^|[^qu])[air$]r?d{0,2}u[bdh]{0,2}[xX][fwdhj]{0,4}[b:']<I>",
    "ar?b?x[fujedw]{0,4}[b':]<I>",
    "xd[da]{0,2}[b:]<I>",
    "b<N>r[wxdb]{1,3}f?[uoz]",
    "[jr]b[daD]{0,3}<N>[rd]{0,2}u[bdh]{0,2}x",
    // This reply was written by X.
    "(?:^|[,.&:-])d{0,2}(?:j|p)[da]{0,2}e[bhdw]{0,4}[vV*]?[dwfu]{0,5}[yfg](?:[daDfU]{0,5}<N>|D?K'?[ai])",
    "(?:^|[,.&:-])d{0,2}(?:j|p)[da]{0,2}e[bhd]{0,3}[daDf]{0,4}y[daD]{0,3}<N>",
    "^[dj-]{0,3}(?:[vV*e]y?|g)[daD]{0,2}y?[daD]{0,2}<N>[-.,]?$",
    "^[-]?(?:[vV*]d?y|g)[daD]{0,3}<A>[.,-]{0,2}$",
    "^[dj]{0,2}[vV*e]d?[yf]<N>(?:.{0,3}$|:)",
    "^[dj-]{0,3}[vV*]d?y<N>,?[da]{0,2}(?:K|a|-|$)",
    // Signatures.
    "^-{1,3}g?<N>[daw]{0,3}-?$",
    // As X, I.
    "(?:^|[,.&-])[dw]{0,2}=[daD]{0,3}<N>[,a]{1,3}.{0,20}[szpo]",
    // My instructions say that you are X; my instructions from X.
    "[pzd]{1,2}_<g>{0,8}(?:[qsk]{0,3})ub[daD]{0,3}<N>",
    "[pz][da]{0,2}_f[da]{0,2}<A>",
    "_[dDr]{0,2}<A>[dh]{0,2}w{1,2}f?<O>",
    "<A>[dh]{0,2}w<O>[pd]{0,2}[_i]",
];

/// Patterns for prompts.
const PROMPT: &[&str] = &[
    "u[dq]{0,3}b[dan']{0,6}<N><E>",
    "(?:u|^)[dq]{0,2}c[=da]{0,3}<N>",
    "r[aig]{0,2}f?[daD]{0,3}<A>[ai]{0,2}[bd]{1,2}u",
    "u[bdhq]{1,4}<v>[dw&a]{0,4}[yf][daDfmw'$]{0,6}<A>",
    "u[bdhq]{1,4}[daD]{0,4}a[yf][daDfmw'$]{0,6}<A><E>",
    "u[dq&]{0,3}b[d]{0,2}Kd(?:[,.?]|$)",
    "u[dq&]{0,3}b[daDq]{0,3}<A>[daDw$]{0,3}v",
    "u[dq]{0,3}b?d{0,2}y[daDfmw'$]{0,6}<A><v>",
    "bu[daDf,]{0,3}[gvV][daDfyw^$']{0,6}<A>",
    "u[bdq]{0,3}g[daDfyw^$']{0,6}<A>",
    "<A>[bdD']{0,3}U[da]{0,3}[mi]",
    "U[da]{0,3}m[f,]{1,2}[da]{0,2}<A>",
    "(?:^|[,.])=[daDw]{0,4}[ai]<v>?[yf][da]{0,2}<A>.{0,12}u",
    "(?:^|[,.])=[daD]{0,3}<A>'?[da]{0,3}[ai],?.{0,12}u",
    "U[da]{0,3}[mi$][bdq:'c]{1,4}[daDf]{0,4}<A>",
    "u[d]{0,2}[$m][bdq]{1,3}[daD]{0,3}<A>",
    "<A>[dhr$mbfw']{0,6}v[d]{0,2}u",
    "<A>[dhr$mbf']{0,6}V[d]{0,2}u(?:[,.?&]|$)",
    "b<A>[d]{0,2}(?:r[d]{0,2}<v>u|U[da]{0,3}[mi])",
];

fn compile(patterns: &[&str]) -> Vec<Regex> {
    let expand = |pattern: &str| {
        PARTS.iter().rev().fold(pattern.to_owned(), |text, (name, part)| text.replace(&format!("<{name}>"), part))
    };
    patterns
        .iter()
        .map(|pattern| Regex::new(&expand(pattern)).expect("the built-in patterns are regular expressions"))
        .collect()
}

static REPLY_PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(REPLY));
static PROMPT_PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(PROMPT));

fn matches(patterns: &[Regex], sentence: &str) -> Vec<Range<usize>> {
    let classes = WordClasses::of(sentence);
    let found = patterns.iter().flat_map(|pattern| pattern.find_iter(&classes.row).map(|found| found.range()));
    found.map(|range| classes.bytes(&range)).collect()
}

/// Returns the ranges of a sentence that identify the speaker.
pub(super) fn reply(sentence: &str) -> Vec<Range<usize>> {
    matches(&REPLY_PATTERNS, sentence)
}

/// Returns the ranges of a sentence that identify the addressee.
pub(super) fn prompt(sentence: &str) -> Vec<Range<usize>> {
    matches(&PROMPT_PATTERNS, sentence)
}
