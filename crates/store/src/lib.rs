//! Objects by key: the store trait and the local folder
