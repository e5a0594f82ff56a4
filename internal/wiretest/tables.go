package wiretest

import (
	"embed"
	"strings"
)

// Count is the number of vectors.
const Count = 593

//go:embed tables
var tables embed.FS

// Vectors makes all vectors from the tables. doc.go describes the form of the tables.
func Vectors() []Vector {
	t := table{reader: reader{named: map[string]item{}}}
	for _, name := range []string{"records", "rounds", "plans", "frames"} {
		t.read(name)
	}
	return t.list
}

// A table reads tables line by line, and collects their vectors.
type table struct {
	reader
	frame string // of the vectors that follow
	list  []Vector
}

func (t *table) read(name string) {
	text, err := tables.ReadFile("tables/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	// A line that begins with two blanks continues the line before it.
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\n  ", " ")) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			t.line(line)
		}
	}
}

func (t *table) line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "frame":
		t.frame = rest
	case word == "common":
		t.named["it"] = t.parse(rest)
		t.read("common")
	case strings.HasPrefix(rest, "= "):
		t.named[word] = t.parse(rest[2:])
	default:
		name, rest, _ := strings.Cut(rest, " ")
		text, comment, _ := strings.Cut(rest, " -- ")
		t.list = append(t.list, Vector{t.frame + "-" + name, t.frame, word, comment,
			t.parse(text).value()})
	}
}

// parse reads a value that ends with the text.
func (t *table) parse(text string) item {
	t.text = text
	i := t.next()
	if t.take(""); t.text != "" {
		t.fail("more than a value")
	}
	return i
}
