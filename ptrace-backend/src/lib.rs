//! A real Linux process as a program that the checker can drive.

pub mod instructions;
