//! How well scores rank labelled anomalies.
