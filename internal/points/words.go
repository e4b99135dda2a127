package points

import (
	"errors"
	"fmt"
	"strings"
)

// literal stands before a character of globs that was quoted. Names of files have no NUL.
const literal = '\x00'

// special are the characters of globs.
const special = "*?["

// split splits a line into words. Characters of globs that were quoted have a literal before
// them.
func split(line string) (words []string, err error) {
	if strings.ContainsRune(line, literal) {
		return nil, errors.New("the line has a NUL octet: is this a text file?")
	}
	var word strings.Builder
	begun, quote := false, rune(0)
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			begun, quote = true, c
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		case quote == 0 && c == '#' && !begun:
			return words, nil
		default:
			if quote != 0 && strings.ContainsRune(special, c) {
				word.WriteRune(literal)
			}
			begun = true
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c has no other one behind it: what it begins does not end", quote)
	}
	end()
	return words, nil
}

// plain is a word as it was meant.
func plain(word string) string { return strings.ReplaceAll(word, string(literal), "") }
