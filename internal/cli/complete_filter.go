package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// words of the language of filters that may stand where a field may.
var filterWords = []string{"not", "any", "all", "len(", "count(", "lower(", "upper("}

// completeFilter offers what may come next in a filter: the names of fields, behind a name
// and a space its operators, and behind a whole comparison what joins it to another one.
func completeFilter(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	at := strings.LastIndexAny(text, " \t()!&|{},\"") + 1
	head, word := text[:at], text[at:]
	if strings.Count(head, `"`)%2 == 1 {
		return nil, directive // within a string
	}
	var offers []string
	before := strings.Fields(head)
	switch behind := lastOf(before); {
	case word == "" && fields.Find(behind) != nil:
		for _, op := range fields.Find(behind).Type.Operators() {
			if op != "[]" {
				offers = append(offers, head+op)
			}
		}
		offers = append(offers, head+"&&", head+"||")
	case isOperator(behind):
		// A value: nobody knows which.
	case expectsJoin(before):
		offers = []string{head + "&&", head + "||", head + "and", head + "or", head + "xor"}
	default:
		for _, f := range fields.All() {
			offers = append(offers, head+f.Name+"\t"+f.Label)
		}
		for _, w := range filterWords {
			offers = append(offers, head+w)
		}
	}
	return beginning(text, offers), directive
}

func lastOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// isOperator reports whether a value follows a word.
func isOperator(word string) bool {
	switch word {
	case "==", "!=", "~=", "===", "!==", ">", "<", ">=", "<=", "&", "eq", "ne", "gt", "lt", "ge", "le", "in", "contains", "matches":
		return true
	}
	return false
}

// expectsJoin reports whether the words end with a whole comparison.
func expectsJoin(words []string) bool {
	return len(words) >= 2 && isOperator(words[len(words)-2])
}
