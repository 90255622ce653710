//! Each operation of the model means what it should.
