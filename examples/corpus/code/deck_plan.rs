//! Places vehicles on the car deck of a small ferry.
//!
//! The heaviest vehicle goes to the middle lane, one row forward of the ramp; electric cars stay next
//! to the ramp, so that they can be put ashore first. Everything else is filled from the middle
//! outwards.

use std::fmt;

/// Rows from the ramp (0) to the bow.
const ROWS: usize = 4;
/// Left, middle, right.
const LANES: usize = 3;
/// The place of the heaviest vehicle: middle lane, second row.
const HEAVIEST: Place = Place { row: 1, lane: 1 };

/// Something with wheels that wants to cross.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vehicle {
    /// Registration plate.
    pub plate: String,
    /// Mass with load, in kilograms.
    pub mass_kg: u32,
    /// Runs on a battery.
    pub electric: bool,
}

/// A place on the deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Row from the ramp.
    pub row: usize,
    /// Lane from the left.
    pub lane: usize,
}

/// Why a vehicle stays ashore.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// All places are taken.
    DeckFull {
        /// Plate of the vehicle.
        plate: String,
    },
    /// All places next to the ramp are taken, and an electric car may stand nowhere else.
    NoPlaceAtRamp {
        /// Plate of the vehicle.
        plate: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeckFull { plate } => write!(f, "no place left for `{plate}`; it waits for the next crossing"),
            Self::NoPlaceAtRamp { plate } => {
                write!(f, "no place at the ramp for the electric car `{plate}`; put another car forward")
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// The deck and who stands where.
#[derive(Debug, Default)]
pub struct Deck {
    places: [[Option<Vehicle>; LANES]; ROWS],
}

impl Deck {
    /// Loads the vehicles, heaviest first, and answers those that have to wait.
    pub fn load(&mut self, mut vehicles: Vec<Vehicle>) -> Vec<Refusal> {
        vehicles.sort_by(|a, b| b.mass_kg.cmp(&a.mass_kg).then_with(|| a.plate.cmp(&b.plate)));
        // Electric cars choose first, because they have the fewest places.
        let (electric, others): (Vec<_>, Vec<_>) = vehicles.into_iter().partition(|v| v.electric);
        electric.into_iter().chain(others).filter_map(|vehicle| self.put(vehicle).err()).collect()
    }

    fn put(&mut self, vehicle: Vehicle) -> Result<Place, Refusal> {
        let place = self.free_place(&vehicle).ok_or_else(|| {
            let plate = vehicle.plate.clone();
            if vehicle.electric { Refusal::NoPlaceAtRamp { plate } } else { Refusal::DeckFull { plate } }
        })?;
        self.places[place.row][place.lane] = Some(vehicle);
        Ok(place)
    }

    /// The free place nearest to the middle of the deck, or to the ramp for an electric car.
    fn free_place(&self, vehicle: &Vehicle) -> Option<Place> {
        let rows = if vehicle.electric { 0..1 } else { 0..ROWS };
        rows.flat_map(|row| (0..LANES).map(move |lane| Place { row, lane }))
            .filter(|place| self.places[place.row][place.lane].is_none())
            .min_by_key(|place| (place.lane.abs_diff(HEAVIEST.lane), place.row.abs_diff(HEAVIEST.row)))
    }

    /// Moment of the load about the middle lane, in kilogram lanes: 0 is level, negative lists to the left.
    pub fn list_moment(&self) -> i64 {
        let side = |lane: usize| lane as i64 - HEAVIEST.lane as i64;
        self.places
            .iter()
            .flat_map(|row| row.iter().enumerate())
            .filter_map(|(lane, vehicle)| vehicle.as_ref().map(|v| side(lane) * i64::from(v.mass_kg)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn car(plate: &str, mass_kg: u32, electric: bool) -> Vehicle {
        Vehicle { plate: plate.to_owned(), mass_kg, electric }
    }

    #[test]
    fn a_fourth_electric_car_waits() {
        let mut deck = Deck::default();
        let cars = ["E1", "E2", "E3", "E4"].map(|plate| car(plate, 1_800, true)).to_vec();
        assert_eq!(deck.load(cars), [Refusal::NoPlaceAtRamp { plate: "E4".to_owned() }]);
    }

    #[test]
    fn one_lorry_in_the_middle_does_not_list() {
        let mut deck = Deck::default();
        assert!(deck.load(vec![car("L1", 7_500, false)]).is_empty());
        assert_eq!(deck.list_moment(), 0);
    }
}
