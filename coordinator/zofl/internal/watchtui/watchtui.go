// Package watchtui is the screen of `zofl watch`: it shows a run's progress and devices, and sends
// commands. The [Model] draws data. An [Operator] does all requests over the network.
package watchtui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// askEvery is the time between an answer of the coordinator and the next question.
const askEvery = time.Second

// An Operator sends questions and commands to a run's coordinator. Its methods block. Any goroutine
// may call them.
type Operator interface {
	Ask(Question) Answer
	Command(verb string) (*operate.Status, error)
}

// A Question asks the coordinator for points of the history from record Since on, and for all marks
// but the first Marks.
type Question struct {
	Since uint64
	Marks int
	View  operate.View // the rows of devices to send: those on the screen and some around them
}

// An Answer holds the data for the screen. If Err is set, all other fields are empty.
type Answer struct {
	Question Question
	Status   *operate.Status
	Points   []history.Point
	Marks    []history.Mark
	Rows     *operate.Rows
	Err      error
}

// A Model is the state of the screen that shows a run.
type Model struct {
	op            Operator
	run           string
	colors        bool
	width, height int

	status *operate.Status // nil: nobody has answered yet
	away   error           // why the last question had no answer; nil: it had one
	track  track
	fleet  fleet

	metric   int    // which one is drawn
	help     bool   // the keys are explained
	question string // the command that waits for a yes; "": none
	busy     string // the command that is under way; "": none
	note     string // the outcome of the last command
}

// New returns the screen of a run. If colors is false, all text has the same color and weight.
func New(op Operator, run string, colors bool) *Model {
	return &Model{op: op, run: run, colors: colors, width: 80, height: 24}
}

// Run shows a run until somebody quits or the context ends.
func Run(ctx context.Context, m *Model, options ...tea.ProgramOption) error {
	_, err := tea.NewProgram(m, append(options, tea.WithContext(ctx))...).Run()
	return err
}

// These types are messages to [Model.Update].
type (
	answered  Answer
	timeToAsk struct{}
	commanded struct {
		verb   string
		status *operate.Status
		err    error
	}
)

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd { return m.ask() }

// ask returns a command that sends a question to the coordinator.
func (m *Model) ask() tea.Cmd {
	q := Question{Since: m.track.since(m.status), Marks: m.track.seen, View: m.fleet.view()}
	return func() tea.Msg { return answered(m.op.Ask(q)) }
}

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.fleet.scroll(0)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case timeToAsk:
		return m, m.ask()
	case answered:
		m.take(Answer(msg))
		return m, tea.Tick(askEvery, func(time.Time) tea.Msg { return timeToAsk{} })
	case commanded:
		m.busy = ""
		switch {
		case msg.err != nil:
			m.note = terminal.Plain(msg.err.Error())
		case msg.status.Pending:
			m.note, m.status = msg.verb+": accepted, not done yet", msg.status
		default:
			m.note, m.status = msg.verb+": done", msg.status
		}
	}
	return m, nil
}

// take stores the content of an answer.
func (m *Model) take(a Answer) {
	if m.away = a.Err; a.Err != nil {
		return
	}
	m.track.take(a)
	m.status = a.Status
	m.fleet.take(a.Rows, a.Question.View)
}

// View implements [tea.Model].
func (m *Model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}
