//! Images where they are loaded.

use std::ops::Range;
use std::sync::Arc;

use super::image::Image;
use super::source::SourceFrame;

/// An image in an address space.
#[derive(Clone)]
pub struct LoadedImage {
    /// The file.
    pub image: Arc<Image>,
    /// The number that is added to its static addresses.
    pub bias: u64,
    /// The addresses that it occupies at run time.
    pub range: Range<u64>,
}

/// A static address in one of the modules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StaticAddress {
    /// The module's index in [`Modules`].
    pub module: usize,
    /// The address as its file has it.
    pub address: u64,
}

/// The images of one address space. A module keeps its index for good.
#[derive(Clone, Default)]
pub struct Modules(Vec<LoadedImage>);

impl Modules {
    /// Adds an image and returns its index.
    pub fn add(&mut self, image: Arc<Image>, bias: u64, range: Range<u64>) -> usize {
        self.0.push(LoadedImage { image, bias, range });
        self.0.len() - 1
    }

    /// The module of an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&LoadedImage> {
        self.0.get(index)
    }

    /// Every module, in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = &LoadedImage> {
        self.0.iter()
    }

    /// The module that holds a run-time address, with the static address.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<StaticAddress> {
        let module = self.0.iter().position(|module| module.range.contains(&address))?;
        Some(StaticAddress { module, address: address.wrapping_sub(self.0[module].bias) })
    }

    /// The run-time address of a place.
    #[must_use]
    pub fn run_time(&self, place: StaticAddress) -> Option<u64> {
        Some(self.get(place.module)?.bias.wrapping_add(place.address))
    }

    /// The run-time address of the first module's symbol of this name.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.0.iter().find_map(|module| Some(module.bias.wrapping_add(module.image.symbol(name)?)))
    }

    /// The frames of source code at a run-time address, innermost inlined call first; never empty.
    #[must_use]
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let found = self.find(address).and_then(|place| Some((self.get(place.module)?, place)));
        match found {
            Some((module, place)) => module.image.frames(place.address),
            None => {
                vec![SourceFrame { function: format!("{address:#x}"), file: None, line: None, column: None }]
            }
        }
    }

    /// The words for a run-time address in a module's data.
    #[must_use]
    pub fn data_at(&self, address: u64) -> Option<String> {
        let place = self.find(address)?;
        self.get(place.module)?.image.data_at(place.address)
    }
}
