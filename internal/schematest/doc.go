// Package schematest holds what the program prints for machines against the schemas of
// docs/schema, in the tests of other packages. A member that no schema describes is an error, so
// that none is printed without being documented.
//
// To add a member: describe it in docs/schema, and in docs/output.md. A field of a PDU is described
// by its header: go generate ./internal/schematest writes its schema.
package schematest

//go:generate go test . -run TestFields -update
