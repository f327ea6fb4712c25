//! Statistics as they travel, and back; what does not hold together is refused here.

use canju_retro::{Cell, Code, Distance, Longest, Side, SideStatistics, Statistics};

use crate::{ClusterError, wire};

impl From<&Statistics> for wire::Statistics {
    fn from(statistics: &Statistics) -> Self {
        let [first, second] = &statistics.sides;
        Self { first: Some(first.into()), second: Some(second.into()) }
    }
}

impl From<&SideStatistics> for wire::SideStatistics {
    fn from(side: &SideStatistics) -> Self {
        let histogram = side.histogram.iter().map(|(code, &count)| wire::CodeCount { code: code.bits(), count });
        Self {
            cells: side.cells,
            illegal: side.illegal,
            histogram: histogram.collect(),
            longest_win: side.longest_win.map(Into::into),
            longest_loss: side.longest_loss.map(Into::into),
        }
    }
}

impl From<Longest> for wire::Longest {
    fn from(longest: Longest) -> Self {
        let Cell { slice, index, side } = longest.cell;
        Self {
            order: u32::from(longest.distance.order),
            plies: u32::from(longest.distance.plies),
            cell: Some(wire::Cell { slice, index, side: side.index() as u32 }),
        }
    }
}

impl TryFrom<wire::Statistics> for Statistics {
    type Error = ClusterError;

    fn try_from(statistics: wire::Statistics) -> Result<Self, ClusterError> {
        let (Some(first), Some(second)) = (statistics.first, statistics.second) else {
            return Err(ClusterError::Protocol("statistics of one side only".into()));
        };
        Ok(Self { sides: [first.try_into()?, second.try_into()?] })
    }
}

impl TryFrom<wire::SideStatistics> for SideStatistics {
    type Error = ClusterError;

    fn try_from(side: wire::SideStatistics) -> Result<Self, ClusterError> {
        let mut histogram = std::collections::BTreeMap::new();
        for entry in side.histogram {
            let code = Code::from_bits(entry.code)
                .ok_or_else(|| ClusterError::Protocol(format!("{:#x} is no value", entry.code)))?;
            histogram.insert(code, entry.count);
        }
        Ok(Self {
            cells: side.cells,
            illegal: side.illegal,
            histogram,
            longest_win: side.longest_win.map(TryInto::try_into).transpose()?,
            longest_loss: side.longest_loss.map(TryInto::try_into).transpose()?,
        })
    }
}

impl TryFrom<wire::Longest> for Longest {
    type Error = ClusterError;

    fn try_from(longest: wire::Longest) -> Result<Self, ClusterError> {
        let beyond = |_| ClusterError::Protocol("a distance beyond 65535".into());
        let distance = Distance {
            order: longest.order.try_into().map_err(beyond)?,
            plies: longest.plies.try_into().map_err(beyond)?,
        };
        let cell = longest.cell.ok_or_else(|| ClusterError::Protocol("a longest win without its cell".into()))?;
        let side = match cell.side {
            0 => Side::First,
            1 => Side::Second,
            other => return Err(ClusterError::Protocol(format!("side {other}"))),
        };
        Ok(Self { distance, cell: Cell { slice: cell.slice, index: cell.index, side } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let mut statistics = Statistics::default();
        statistics.sides[0].cells = 9;
        statistics.sides[0].histogram.insert(Code::DRAW, 3);
        statistics.sides[1].histogram.insert(Code::WIN, 4);
        let cell = Cell { slice: 1, index: 2, side: Side::Second };
        statistics.sides[1].longest_loss = Some(Longest { distance: Distance::plies(8), cell });
        let wire = wire::Statistics::from(&statistics);
        assert_eq!(Statistics::try_from(wire).unwrap(), statistics);
    }

    #[test]
    fn nonsense_is_refused() {
        let mut wire = wire::Statistics::from(&Statistics::default());
        if let Some(side) = &mut wire.first {
            side.histogram.push(wire::CodeCount { code: 7, count: 1 });
        }
        assert!(Statistics::try_from(wire).is_err());
        assert!(Statistics::try_from(wire::Statistics { first: None, second: None }).is_err());
    }
}
