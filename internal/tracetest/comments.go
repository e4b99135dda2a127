package tracetest

import (
	"regexp"
	"slices"
)

// diagnosed is a comment of annotate that says what went wrong on a connection, or in the whole capture.
var diagnosed = regexp.MustCompile(`^iwdissect: (of frame [0-9]+: )?(error|warning|note)( c[0-9]+)?( and [0-9]+ more)?: `)

// Undiagnosed takes the comments away, of those of each frame, that say what went wrong: in a capture from an interface
// they may stand at later frames. A frame that has no others has nil.
func Undiagnosed(comments [][]string) [][]string {
	for i, of := range comments {
		if comments[i] = slices.DeleteFunc(of, diagnosed.MatchString); len(comments[i]) == 0 {
			comments[i] = nil
		}
	}
	return comments
}
