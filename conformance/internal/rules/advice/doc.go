// Package advice has the rules of interop advice: what is allowed, but troubles some peers.
package advice
