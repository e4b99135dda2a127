// Package attack makes captures that were made to cost: each is an attack on the time or the
// memory of who reads it. What it may cost stands beside it, see [Attack.Bound].
//
// An attack has a size, in units of its own, so that the same one can be made twice as large.
// The same size gives the same octets.
package attack
