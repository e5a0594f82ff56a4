package watchtui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// mostFilter bounds the length of the filter, in bytes.
const mostFilter = 64

// commands has, for a key, the command that it starts and the question that precedes the command.
var commands = map[string]struct{ verb, question string }{
	"p": {operate.VerbPause, "Pause the run?"},
	"r": {operate.VerbResume, "Resume the run?"},
	"s": {operate.VerbStop, "End the run for good? Nothing can follow."},
}

// key carries out the action of a key.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.question != "":
		return m.decide(name)
	case m.fleet.typing:
		m.fleet.edit(name, k.Text)
		return nil
	case m.help:
		m.help = false
		if name != "q" {
			return nil
		}
	}
	if _, ok := commands[name]; ok {
		if m.busy == "" {
			m.question, m.note = name, ""
		}
		return nil
	}
	switch name {
	case "q":
		return tea.Quit
	case "?":
		m.help = true
	case "m":
		m.metric++
	default:
		m.fleet.key(name)
	}
	return nil
}

// decide sends the command that waits for an answer if the key means yes, and drops the command if
// it means no. decide ignores other keys.
func (m *Model) decide(name string) tea.Cmd {
	verb := commands[m.question].verb
	switch name {
	case "y", "Y":
		m.question, m.busy = "", verb
		return func() tea.Msg {
			status, err := m.op.Command(verb)
			return commanded{verb, status, err}
		}
	case "n", "N", "esc", "q":
		m.question = ""
	}
	return nil
}

// key carries out the action of a key for the table.
func (f *fleet) key(name string) {
	switch name {
	case "up", "k":
		f.scroll(-1)
	case "down", "j":
		f.scroll(1)
	case "pgup":
		f.scroll(-max(f.shown, 1))
	case "pgdown", "space":
		f.scroll(max(f.shown, 1))
	case "home", "g":
		f.scroll(-f.top)
	case "end", "G":
		f.scroll(f.rows.Matching)
	case "f", "tab":
		f.whole = !f.whole
	case "/":
		f.typing = true
	case "esc":
		f.filter = ""
		f.stale()
	default:
		if i := strings.Index("123456", name); i >= 0 && len(name) == 1 {
			f.order(operate.Columns()[i])
		}
	}
}

// edit changes the text of the filter by a key.
func (f *fleet) edit(name, typed string) {
	switch name {
	case "enter":
		f.typing = false
	case "esc":
		f.typing, f.filter = false, ""
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(f.filter)
		f.filter = f.filter[:len(f.filter)-n]
	default:
		if typed = terminal.Plain(typed); len(f.filter)+len(typed) <= mostFilter {
			f.filter += typed
		}
	}
	f.stale()
}
