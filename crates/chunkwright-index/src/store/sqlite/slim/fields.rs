//! The fields of a record as serde hands them over, one by one. A record that was made a tree of values first took ten
//! times as long, a tenth of all indexing.

use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeMap, SerializeStruct, Serializer};
use serde_json::Error;

/// Calls a function with each field's name and value as JSON, but those that are not `wanted`.
pub(super) struct Fields<'a> {
    pub(super) wanted: &'a dyn Fn(&str) -> bool,
    pub(super) each: &'a mut dyn FnMut(&str, &str),
    /// Room for a name and for a value.
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(wanted: &'a dyn Fn(&str) -> bool, each: &'a mut dyn FnMut(&str, &str)) -> Self {
        Self { wanted, each, key: Vec::new(), value: Vec::new() }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        if (self.wanted)(name) {
            self.value.clear();
            serde_json::to_writer(&mut self.value, value)?;
            (self.each)(name, std::str::from_utf8(&self.value).map_err(Error::custom)?);
        }
        Ok(())
    }
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// A record with flattened fields is a map to serde.
impl SerializeMap for Fields<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key.clear();
        serde_json::to_writer(&mut self.key, key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = std::mem::take(&mut self.key);
        let name = std::str::from_utf8(&key).map_err(Error::custom)?.trim_matches('"');
        let result = self.field(name, value);
        self.key = key;
        result
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// Ways to write what is no record.
macro_rules! refuse {
    ($($method:ident($($argument:ty),*) -> $result:ty;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$result, Error> {
            Err(Error::custom("it is no record"))
        })*
    };
    ($($method:ident<T>($($argument:ty),*);)*) => {
        $(fn $method<T: Serialize + ?Sized>(self, $(_: $argument,)* _: &T) -> Result<(), Error> {
            Err(Error::custom("it is no record"))
        })*
    };
}

impl Serializer for Fields<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    refuse! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    refuse! {
        serialize_some<T>();
        serialize_newtype_struct<T>(&'static str);
        serialize_newtype_variant<T>(&'static str, u32, &'static str);
    }
}
