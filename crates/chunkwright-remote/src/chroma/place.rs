//! Which collection of the server holds what: names, and the renaming that makes a generation the current one.

use std::collections::HashSet;

use chunkwright_http::Method;
use serde_json::{Value, json};

use super::{Chroma, ChromaOptions, PAGE, chroma_name};
use crate::database::numbered;
use chunkwright_store::error::unknown_generation;
use chunkwright_store::name::CATALOG;
use chunkwright_store::{Generation, GenerationSpec, StoreError};

/// The database of the catalog.
const OWN_DATABASE: &str = "chunkwright";

/// A collection of records.
#[derive(Clone, Copy)]
pub(super) enum Of<'g> {
    Catalog,
    Points(&'g Generation),
}

impl Chroma {
    /// The path of a tenant's databases.
    pub(super) fn databases(&self) -> String {
        format!("/api/v2/tenants/{}/databases", self.options.tenant)
    }

    /// The path of the collections of a database.
    pub(super) fn collections_in(&self, database: &str) -> String {
        format!("{}/{database}/collections", self.databases())
    }

    pub(super) fn collections(&self) -> String {
        self.collections_in(&self.options.database)
    }

    /// Where the catalog is: its collections' path and name.
    pub(super) fn catalog(&self) -> (String, String) {
        let ChromaOptions { database, prefix, .. } = &self.options;
        (self.collections_in(OWN_DATABASE), chroma_name(&format!("{database}.{prefix}{CATALOG}")))
    }

    /// Where earlier versions created the catalog, and where it is if there can be no other database.
    pub(super) fn catalog_among_others(&self) -> (String, String) {
        (self.collections(), self.mapped(CATALOG))
    }

    /// The name of a collection's current generation.
    pub(super) fn mapped(&self, collection: &str) -> String {
        chroma_name(&format!("{}{collection}", self.options.prefix))
    }

    /// The name of a generation that is not current.
    pub(super) fn behind(&self, collection: &str, number: i64) -> String {
        format!("{}-g{number}", self.mapped(collection))
    }

    /// A collection by its name; `None` if it does not exist.
    pub(super) fn named(&self, collections: &str, name: &str) -> Result<Option<Value>, StoreError> {
        self.send(Method::Get, &format!("{collections}/{name}"), None)
    }

    /// The collection of a generation, whatever its name is now.
    pub(super) fn points_of(&self, generation: &Generation) -> Result<Option<Value>, StoreError> {
        let current = self.named(&self.collections(), &self.mapped(&generation.collection))?;
        if let Some(current) = current.filter(|current| is_of(current, generation)) {
            return Ok(Some(current));
        }
        let stored = generation.stored_as();
        let behind = self.named(&self.collections(), &self.behind(stored, generation.number))?;
        Ok(behind.filter(|behind| owner(behind) == Some(stored)))
    }

    /// The path of a collection by its id; `None` if it does not exist.
    pub(super) fn path(&self, of: Of<'_>) -> Result<Option<String>, StoreError> {
        let by_id =
            |collections: &str, found: &Value| Some(format!("{collections}/{}", found["id"].as_str()?));
        match of {
            Of::Points(generation) => {
                Ok(self.points_of(generation)?.and_then(|found| by_id(&self.collections(), &found)))
            }
            Of::Catalog => {
                for (collections, name) in [self.catalog_among_others(), self.catalog()] {
                    if let Some(found) = self.named(&collections, &name)? {
                        return Ok(by_id(&collections, &found));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Creates a collection, unless it exists.
    pub(super) fn create(
        &self,
        (collections, name): &(String, String),
        of: Of<'_>,
    ) -> Result<(), StoreError> {
        let ChromaOptions { max_neighbors, ef_construction, ef_search, .. } = self.options;
        let hnsw = json!({
            "space": "ip",
            "max_neighbors": max_neighbors,
            "ef_construction": ef_construction,
            "ef_search": ef_search,
        });
        let body = json!({
            "name": name,
            "metadata": metadata(of),
            "configuration": {"hnsw": hnsw},
            "get_or_create": true,
        });
        let made = self.client.post(collections, &body);
        let made = made.map_err(|error| StoreError::of_call(self.client.base(), error))?;
        let wanted = match of {
            Of::Catalog => "",
            Of::Points(generation) => generation.stored_as(),
        };
        if owner(&made) == Some(wanted) { Ok(()) } else { Err(held(wanted, name, &made)) }
    }

    /// Creates the catalog: in its own database, or beside the collections if that cannot be.
    pub(super) fn create_catalog(&self) -> Result<(), StoreError> {
        // One that exists is refused; what matters is whether it can be written to.
        let _ = self.client.post(&self.databases(), &json!({"name": OWN_DATABASE}));
        self.create(&self.catalog(), Of::Catalog)
            .or_else(|_| self.create(&self.catalog_among_others(), Of::Catalog))
    }

    /// See [`Database::left`](crate::database::Database::left).
    pub(super) fn left_among(&self, known: &[&Generation]) -> Result<Vec<Generation>, StoreError> {
        let known: HashSet<(&str, i64)> =
            known.iter().map(|generation| (generation.stored_as(), generation.number)).collect();
        let (mut left, mut offset) = (Vec::new(), 0);
        loop {
            let path = format!("{}?limit={PAGE}&offset={offset}", self.collections());
            let page = self.send(Method::Get, &path, None)?.unwrap_or_default();
            let page = page.as_array().map(Vec::as_slice).unwrap_or_default();
            for collection in page {
                let name = collection["name"].as_str().unwrap_or_default();
                // The collection may be another program's.
                let Some((owner, number)) =
                    owner(collection).zip(number(collection).or_else(|| numbered(name)))
                else {
                    continue;
                };
                let is_ours = name == self.mapped(owner) || name == self.behind(owner, number);
                if is_ours && !known.contains(&(owner, number)) {
                    let spec = GenerationSpec::default();
                    left.push(Generation { collection: owner.into(), number, spec, stored: None });
                }
            }
            if page.len() < PAGE {
                return Ok(left);
            }
            offset += page.len();
        }
    }

    /// Gives a collection another name.
    pub(super) fn rename(&self, found: &Value, name: &str, metadata: &Value) -> Result<(), StoreError> {
        let path = format!("{}/{}", self.collections(), found["id"].as_str().unwrap_or_default());
        let body = json!({"new_name": name, "new_metadata": metadata});
        self.send(Method::Put, &path, Some(&body)).map(|_| ())
    }

    /// Checks that no other program or collection has a name of the generation.
    pub(super) fn require_free(&self, generation: &Generation) -> Result<(), StoreError> {
        let Generation { collection, number, .. } = generation;
        let stored = generation.stored_as();
        for name in [self.mapped(collection), self.behind(stored, *number)] {
            let holder = self.named(&self.collections(), &name)?;
            if let Some(holder) = holder.filter(|holder| owner(holder) != Some(stored)) {
                return Err(held(collection, &name, &holder));
            }
        }
        Ok(())
    }

    /// Gives a generation the name of its collection; the one that has it gets one with its number.
    pub(super) fn make_current(&self, generation: &Generation) -> Result<(), StoreError> {
        let name = self.mapped(&generation.collection);
        let found = self.points_of(generation)?.ok_or_else(|| unknown_generation(generation))?;
        if let Some(before) = self.named(&self.collections(), &name)? {
            if is_of(&before, generation) {
                return Ok(());
            }
            let number = number(&before).filter(|_| owner(&before) == Some(generation.stored_as()));
            let number = number.ok_or_else(|| held(&generation.collection, &name, &before))?;
            self.rename(&before, &self.behind(generation.stored_as(), number), &before["metadata"])?;
        }
        self.rename(&found, &name, &metadata(Of::Points(generation)))
    }

    /// Gives a generation that has the name of its collection the one with its number.
    pub(super) fn put_behind(&self, generation: &Generation) -> Result<(), StoreError> {
        let current = self.named(&self.collections(), &self.mapped(&generation.collection))?;
        match current.filter(|current| is_of(current, generation)) {
            Some(current) => {
                let name = self.behind(generation.stored_as(), generation.number);
                self.rename(&current, &name, &current["metadata"])
            }
            None => Ok(()),
        }
    }
}

/// The metadata of a collection, by which it is found again.
pub(super) fn metadata(of: Of<'_>) -> Value {
    match of {
        Of::Catalog => json!({"collection": ""}),
        Of::Points(generation) => {
            json!({"collection": generation.stored_as(), "generation": generation.number})
        }
    }
}

/// The collection, as the user first wrote it, that a collection on the server is of; `None` for another program's.
pub(super) fn owner(found: &Value) -> Option<&str> {
    found["metadata"]["collection"].as_str()
}

/// The number of its generation, which earlier versions did not store.
pub(super) fn number(found: &Value) -> Option<i64> {
    found["metadata"]["generation"].as_i64()
}

/// Returns whether a collection on the server is this generation.
pub(super) fn is_of(found: &Value, generation: &Generation) -> bool {
    owner(found) == Some(generation.stored_as()) && number(found) == Some(generation.number)
}

/// The error that `name` would be stored as `physical`, which another has.
pub(super) fn held(name: &str, physical: &str, holder: &Value) -> StoreError {
    StoreError::SameName {
        name: name.into(),
        physical: physical.into(),
        holder: owner(holder).unwrap_or("of another program").into(),
    }
}
