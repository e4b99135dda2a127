package program

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHabits holds each row of docs/habits.md against the scripts: one of those that its
// section names, or of all, runs the command with the same options.
func TestHabits(t *testing.T) {
	text, err := os.ReadFile("../../docs/habits.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := scriptLines(t, "testdata/script/"+habitScripts)
	everything := scriptLines(t, "testdata/script/*.txtar")
	rows, section := 0, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = heading
		}
		for _, name := range habitScript.FindAllString(line, -1) {
			if _, err := os.Stat(filepath.Join("testdata/script", name)); err != nil {
				t.Errorf("%s: there is no script %s", section, name)
			}
		}
		cells := tableRow(line)
		if cells == nil || section == "" {
			continue
		}
		if len(cells) != 3 {
			t.Errorf("%s: a row of %d cells: %s", section, len(cells), line)
			continue
		}
		rows++
		for _, c := range habitCommands(cells[0], cells[1]) {
			if !c.isIn(ran) && !c.isIn(everything) {
				t.Errorf("%s: no script runs a command with %q:\n%s", section, c.words, line)
			}
		}
		if len(habitCommands(cells[0], cells[1])) == 0 && !strings.HasPrefix(cells[1], "no") {
			t.Errorf("%s: no command of ours in\n%s", section, line)
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows found", rows)
	}
}

var (
	habitScript = regexp.MustCompile(`habit_[a-z_]+\.txtar`)
	statistic   = regexp.MustCompile(`^([a-z]+,)+`)
	codeSpan    = regexp.MustCompile("`([^`]+)`")
)

// tableRow cuts a row of a table into cells; nil for other lines, the head among them.
func tableRow(line string) []string {
	if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.Contains(line, "| `iwdissect` |") {
		return nil
	}
	line = strings.ReplaceAll(line, `\|`, "\x00")
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|")
	}
	return cells
}

// habit is what a command must have in it. The words of one that is the same as that of
// the other program may be spread over several commands, with the values of options such
// as -a behind them.
type habit struct {
	words []string
	fails bool
	same  bool
}

// isIn tells if one of the lines has all of the habit.
func (h habit) isIn(lines [][]string) bool {
	if slices.ContainsFunc(lines, h.runsIn) {
		return true
	}
	if !h.same || len(h.words) == 0 {
		return false
	}
	for i, w := range h.words {
		part := habit{words: []string{w}, fails: h.fails}
		if w[0] != '-' {
			part.words = []string{h.words[i-1], w}
		}
		if !slices.ContainsFunc(lines, part.runsIn) {
			return false
		}
	}
	return true
}

// habitCommands are the commands that a row tells to type here. "The same", and
// words without a command, stand for those of the other programs; "refused" too, but they fail.
func habitCommands(theirs, ours string) (all []habit) {
	own := codeSpan.FindAllStringSubmatch(ours, -1)
	for _, span := range own {
		if _, command, ok := strings.Cut(span[1], "iwdissect "); ok {
			all = append(all, habit{words: needed(command, true)})
		} else if strings.HasPrefix(span[1], "-") {
			all = append(all, habit{words: needed(span[1], false)})
		}
	}
	refused := strings.HasPrefix(ours, "refused")
	same := strings.HasPrefix(ours, "the same") || len(all) == 0 && !refused
	if strings.HasPrefix(ours, "no") || !same && !refused {
		return all
	}
	for _, span := range codeSpan.FindAllStringSubmatch(theirs, -1) {
		all = append(all, habit{words: needed(span[1], false), fails: refused, same: same})
	}
	return all
}

// needed are the subcommand and the options of a command, with those of their arguments
// that say what the option is for: -z conv,tcp and -b filesize:.
func needed(command string, ours bool) (words []string) {
	command, _, _ = strings.Cut(command, " | ")
	all := shellWords(command)
	if ours && len(all) > 0 && !strings.HasPrefix(all[0], "-") && all[0] == strings.ToLower(all[0]) && !strings.Contains(all[0], ".") {
		words = append(words, all[0])
	}
	for i, w := range all {
		if len(w) < 2 || w[0] != '-' || w == "-r" {
			continue
		}
		option, value, inside := strings.Cut(w, "=")
		if !inside && i+1 < len(all) {
			value = all[i+1]
		}
		words = append(words, option)
		switch {
		case value == strings.ToUpper(value): // a placeholder, or a number
		case slices.Contains([]string{"-T", "--format", "-F", "-t"}, option):
			words = append(words, value)
		case option == "-z":
			words = append(words, strings.TrimSuffix(statistic.FindString(value+","), ","))
		case option == "-a" || option == "-b":
			if key, _, ok := strings.Cut(value, ":"); ok {
				words = append(words, key+":")
			}
		}
	}
	return words
}

// scriptLines are the lines of scripts, in words.
func scriptLines(t *testing.T, pattern string) (lines [][]string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, shellWords(line))
			}
		}
	}
	return lines
}

// runsIn tells if a line of a script has all words.
func (h habit) runsIn(line []string) bool {
	if len(line) == 0 || h.fails && line[0] != "!" && line[0] != "exits" {
		return false
	}
	for _, w := range h.words {
		if !slices.ContainsFunc(line, func(have string) bool {
			return have == w || strings.HasPrefix(have, w+"=") || strings.HasPrefix(have, w+",") || strings.HasSuffix(w, ":") && strings.HasPrefix(have, w)
		}) {
			return false
		}
	}
	return true
}

// shellWords cuts a line into words; what is in quotes is one.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, in := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}
