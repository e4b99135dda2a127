package conformance

import (
	"fmt"
	"reflect"
)

// Touched names what was written to of what halves share of which nothing is known:
// nothing.
func (e *Engine) Touched() (fields []string) {
	parts := reflect.ValueOf(e.idle)
	for i := range parts.NumField() {
		part := parts.Field(i)
		for j := range part.NumField() {
			if !part.Field(j).IsZero() {
				fields = append(fields, fmt.Sprintf("%s.%s", parts.Type().Field(i).Name, part.Type().Field(j).Name))
			}
		}
	}
	return fields
}
