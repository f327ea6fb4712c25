//! Asking the tables about positions
