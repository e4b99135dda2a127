package conformance

var adviceChecks []check
