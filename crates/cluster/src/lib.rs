//! The coordinator and the worker as libraries over the generated protocol
