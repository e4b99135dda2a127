// Package hostile makes the captures of an attacker, at any size and without keeping them:
// many connections, each of which makes a decoder keep something. Tests measure with it what
// an analysis keeps, and tools/hostile what reading costs.
package hostile
