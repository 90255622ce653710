//! Forms in which single values of a schedule file are written.

use std::time::Duration;

use checker::names::{Obj, ObjName, Site};
use serde::de;
use serde::{Deserialize, Deserializer, Serializer};

fn site_text(site: Site) -> String {
    format!("{:#x}", site.0)
}

fn parse_site<E: de::Error>(text: &str) -> Result<Site, E> {
    text.strip_prefix("0x")
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .map(Site)
        .ok_or_else(|| E::custom(format!("`{text}` is not a place in the code")))
}

/// A site as text: JSON readers lose digits of large numbers.
pub(super) mod site {
    use super::{Deserialize, Deserializer, Serializer, Site, parse_site, site_text};

    pub(in super::super) fn serialize<S: Serializer>(site: &Site, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&site_text(*site))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Site, D::Error> {
        parse_site(&String::deserialize(from)?)
    }
}

/// Several sites.
pub(super) mod sites {
    use super::{Deserialize, Deserializer, Serializer, Site, parse_site, site_text};

    pub(in super::super) fn serialize<S: Serializer>(sites: &[Site], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(sites.iter().map(|site| site_text(*site)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Site>, D::Error> {
        Vec::<String>::deserialize(from)?.iter().map(|text| parse_site(text)).collect()
    }
}

/// Objects as `name+offset/length`, in hexadecimal digits.
pub(super) mod objects {
    use super::{Deserialize, Deserializer, Obj, ObjName, Serializer, de};

    pub(in super::super) fn serialize<S: Serializer>(objects: &[Obj], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(objects.iter().map(|obj| format!("{:x}+{:x}/{:x}", obj.name.0, obj.offset, obj.len)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Obj>, D::Error> {
        let unclear = |text: &str| de::Error::custom(format!("`{text}` is not a stretch of memory"));
        Vec::<String>::deserialize(from)?
            .iter()
            .map(|text| parse(text).ok_or_else(|| unclear(text)))
            .collect()
    }

    fn parse(text: &str) -> Option<Obj> {
        let (name, rest) = text.split_once('+')?;
        let (offset, len) = rest.split_once('/')?;
        let number = |digits| u32::from_str_radix(digits, 16).ok();
        let name = ObjName(u64::from_str_radix(name, 16).ok()?);
        Some(Obj { name, offset: number(offset)?, len: number(len).filter(|&len| len > 0)? })
    }
}

/// A duration as a whole number of milliseconds.
pub(super) mod milliseconds {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(value.as_millis()).unwrap_or(u64::MAX))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
