// Package model is what the rules know of a connection: a model of each of its directions,
// built from the PDUs, startup frames and closings of package trace. It states facts and
// judges nothing.
package model
