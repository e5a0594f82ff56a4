// Package operator has the commands that go to a running coordinator: status, devices, pause, stop
// and others.
package operator

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/wire/survey"
)

// An operator holds the flags of a command to a running coordinator.
type operator struct {
	connect.Connection
	run    string
	asJSON bool
}

func (o *operator) flags(cmd *cobra.Command) {
	o.Connection.Flags(cmd)
	cmd.Flags().StringVar(&o.run, "run", "", "name of the run")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object instead of a table")
}

// open connects to the broker of the run.
func (o *operator) open(verb string) (*nats.Conn, error) {
	if err := cli.CheckRun(o.run); err != nil {
		return nil, err
	}
	return o.Dial("zofl "+verb, connect.InboxOf(grant.Operator, o.run))
}

// ask sends a command, and prints the coordinator's status after it.
func (o *operator) ask(cmd *cobra.Command, verb string, r operate.Request) error {
	nc, err := o.open(verb)
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), connect.AskWithin)
	defer cancel()
	status, err := operate.Ask(ctx, nc, o.run, verb, r)
	if err != nil {
		return cli.Classify(err)
	}
	return o.show(cmd, verb, status)
}

// show prints the coordinator's status after a command.
func (o *operator) show(cmd *cobra.Command, verb string, status *operate.Status) error {
	if status.Warning != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "zofl: %s\n", terminal.Plain(status.Warning))
	}
	if o.asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(status)
	}
	printStatus(cmd.OutOrStdout(), status)
	if status.Pending {
		fmt.Fprintf(os.Stderr, "zofl: %s was accepted but is not done yet: "+
			"it waits for the open round, or for the log\n", verb)
	}
	return nil
}

// verbCommand makes a command without arguments. The command has a flag for a reason if reason is
// true.
func verbCommand(verb, short, long string, reason bool) *cobra.Command {
	var o operator
	var r operate.Request
	if verb == operate.VerbPause {
		r.By = operate.Who()
	}
	cmd := &cobra.Command{
		Use: verb, Short: short, Long: long, Args: cli.NoArguments,
		Example: "  zofl " + verb + " --url nats://127.0.0.1:4222 --run kitchen",
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.ask(cmd, verb, r) },
	}
	o.flags(cmd)
	if reason {
		cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for the people who own the devices")
	}
	if verb == operate.VerbPause {
		cmd.Flags().Uint64Var(&r.After, "after", 0, "the round to pause after; 0: now")
	}
	return cmd
}

// Commands are all commands to a running coordinator.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		verbCommand(operate.VerbStatus, "Show what the coordinator is doing",
			`Shows what the coordinator of a run is doing: its last record, the open round, the loss, and
what devices report.`, false),
		verbCommand(operate.VerbPause, "Pause a run",
			`Pauses a run: the coordinator opens no more rounds until zofl resume, and tells the devices
why. Replies that the open round has collected are kept.`, true),
		verbCommand(operate.VerbResume, "Continue a paused run",
			`Continues a paused run, whatever paused it.`, false),
		verbCommand(operate.VerbStop, "End a run for good",
			`Ends a run for good. The coordinator writes the last record and tells the devices; no round
follows. To stop only the coordinator, interrupt zofl serve instead.`, true),
		watchCommand(), rollbackCommand(), changeCommand(), devicesCommand(), retireCommand(),
	}
}

func rollbackCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "rollback RECORD",
		Short: "Return a run to the state after an earlier record",
		Long: `Writes a record that returns every replica of the model to the state after an earlier
record, with the plan as it was then. Nothing is erased: the records in between stay in the
log, and the next round starts from the earlier state.`,
		Example: `  zofl rollback 512 --url nats://127.0.0.1:4222 --run kitchen`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage(fmt.Errorf("%d arguments: give the number of one record; see %s --help",
					len(args), cmd.CommandPath()))
			}
			to, err := strconv.ParseUint(args[0], 10, 63)
			if err != nil || to == 0 {
				return cli.Usage(fmt.Errorf("record %q: give the number of a record, 1 or more",
					args[0]))
			}
			return o.ask(cmd, operate.VerbRollback, operate.Request{To: to})
		},
	}
	o.flags(cmd)
	return cmd
}

func changeCommand() *cobra.Command {
	var o operator
	var yes bool
	cmd := &cobra.Command{
		Use:   "change FIELD=VALUE...",
		Short: "Change fields of the plan during a run",
		Long: `Writes a record that changes fields of the plan, for every replica of the model and from
that record on. Only some fields can change during a run; zofl plan --fields says which.`,
		Example: `  zofl change step=0.0005 deadline=20000 --url nats://127.0.0.1:4222 --run kitchen`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(fmt.Errorf("no fields: give FIELD=VALUE for each; see %s --help",
					cmd.CommandPath()))
			}
			if _, err := operate.ParseChange(args); err != nil { // before a connection is made
				return cli.Usage(err)
			}
			r := operate.Request{Fields: args, Ends: yes}
			err := o.ask(cmd, operate.VerbChange, r)
			if operate.WouldEnd(err) && agrees(cmd, err) {
				r.Ends = true
				err = o.ask(cmd, operate.VerbChange, r)
			}
			return err
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "make the change though the run ends by it for good")
	return cmd
}

// agrees asks the person at the terminal, if there is one, whether a run may end.
func agrees(cmd *cobra.Command, why error) bool {
	if in, ok := cmd.InOrStdin().(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%v\nEnd the run? [y/N] ", why)
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	return err == nil && strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
}

// lossOf returns the loss of the last round, or a text before the first round.
func lossOf(s *operate.Status) any {
	if s.Rounds == 0 {
		return "no round yet"
	}
	return s.Loss
}

func printStatus(out io.Writer, s *operate.Status) {
	t := cli.NewTable(out)
	t.AppendRow(table.Row{"run", s.Run})
	t.AppendIf(s.Version != "", "version", "zofl "+s.Version)
	t.AppendRow(table.Row{"state", stateOf(s)})
	t.AppendIf(s.Reason != "", "reason", s.Reason)
	t.AppendIf(s.By != "", "paused by", terminal.Plain(s.By))
	t.AppendIf(s.PauseAfter > 0, "will pause after round", s.PauseAfter)
	t.AppendIf(s.Unkept != "", "a restart would undo it", s.Unkept)
	t.AppendIf(s.Waits != "", "waits for devices", s.Waits)
	t.AppendIf(s.LogError != "", "log", s.LogError)
	t.AppendRows([]table.Row{
		{"record", s.N},
		{"rounds", s.Rounds},
		{"epoch", s.Epoch},
		{"members", s.Members},
	})
	t.AppendIf(s.End == "", "present", s.Present)
	t.AppendIf(s.Key != "", "key", s.Key)
	t.AppendIf(s.Phase > 0, "phase", fmt.Sprintf("%d of 2", s.Phase))
	t.AppendIf(s.Asks() != "", "asks for", s.Asks())
	if s.Asked+s.Contributions+s.Declines+s.Attempt > 0 {
		t.AppendRows([]table.Row{
			{"attempt", s.Attempt},
			{"asked", s.Asked},
			{"contributions", s.Contributions},
			{"declines", s.Declines},
		})
	}
	printParticipation(t, s.Participation)
	printVectors(t, s)
	t.AppendRow(table.Row{"loss", lossOf(s)})
	t.AppendIf(s.SignalToNoise > 0, "signal to noise", signalOf(s))
	t.AppendIf(s.SurveyWarning != "", "warning", s.SurveyWarning)
	t.AppendIf(s.NoFall != "", "does not learn", s.NoFall)
	t.AppendIf(s.Privacy != nil, "privacy spent", s.Privacy)
	t.AppendIf(s.Planned != nil, "privacy, all rounds", s.Planned)
	if e := s.Evaluation; e != nil {
		t.AppendRow(table.Row{fmt.Sprintf("metrics after record %d", e.N),
			fmt.Sprintf("%s, from %s", metricsOf(e), terminal.Count(e.Devices, "device"))})
	}
	t.AppendIf(s.Best != nil, "best model", s.Best)
	for _, name := range slices.Sorted(maps.Keys(s.Reported)) {
		t.AppendRow(table.Row{"reported " + name, reportedOf(s.Reported[name])})
	}
	for _, d := range s.Digests {
		for _, digest := range slices.Sorted(maps.Keys(d.Devices)) {
			t.AppendRow(table.Row{fmt.Sprintf("digest after record %d", d.N),
				fmt.Sprintf("%s: %s", digest, terminal.Count(d.Devices[digest], "device"))})
		}
		if d.Differing > 0 {
			t.AppendRow(table.Row{"differ from " + d.Reference,
				fmt.Sprintf("%s: %v", terminal.Count(d.Differing, "device"), d.Differ)})
		}
	}
	t.AppendIf(s.Counters.Cut > 0, "cut to the bound", terminal.Count(s.Counters.Cut,
		"contribution")+", or means with secure=sum")
	t.AppendRow(table.Row{"dropped frames", droppedOf(s)})
	t.AppendRows(turnedAwayOf(s))
	t.Render()
}

// signalOf says how much of a difference at the run's mu is a slope's.
func signalOf(s *operate.Status) string {
	r := survey.Result{SignalToNoise: s.SignalToNoise, LossesFactor: s.LossesFactor}
	return "of a difference: " + r.Price()
}

// metricsOf writes metrics, with their names if the evaluation has names.
func metricsOf(e *operate.Evaluation) string {
	var list []string
	for i, v := range e.Metrics {
		text := fmt.Sprintf("%.4g", v)
		if i < len(e.Names) {
			text = e.Names[i] + " " + text
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// reportedOf writes what apps reported under one name.
func reportedOf(r history.Reported) string {
	if r.Reporters == 1 {
		return fmt.Sprintf("%.4g", r.Median)
	}
	return fmt.Sprintf("median %.4g, from %.4g to %.4g, of %s", r.Median, r.Min, r.Max,
		terminal.Count(r.Reporters, "device"))
}

// printParticipation appends rows about the last round, and about how evenly devices take part.
func printParticipation(t cli.Table, p *report.Participation) {
	if p == nil {
		return
	}
	t.AppendRows([]table.Row{
		{"counted in the last round", fmt.Sprintf("%d of %d asked", p.Counted, p.Asked)},
		{"contributions of a device", p.Spread()},
	})
}

// printVectors appends the rows about vectors. Only runs with transport=dense have such rows.
func printVectors(t cli.Table, s *operate.Status) {
	c := &s.Counters
	t.AppendIf(s.ObjectError != "", "vectors in the log", s.ObjectError)
	t.AppendIf(s.Uploads > 0 || c.UploadBytes > 0 || c.Busy > 0, "vectors being received",
		fmt.Sprintf("%d; %s so far, %s told to wait, %d dropped after silence",
			s.Uploads, cli.Size(c.UploadBytes), terminal.Count(c.Busy, "time"), c.Evicted))
	t.AppendIf(c.Objects > 0 || c.ObjectErrors > 0, "vectors fetched",
		fmt.Sprintf("%s, %s, %s", terminal.Count(c.Objects, "piece"), cli.Size(c.ObjectBytes),
			terminal.Count(c.ObjectErrors, "error")))
}

// stateOf returns the state, and for an ended run the cause of its end.
func stateOf(s *operate.Status) string {
	if s.End == "" {
		return s.State
	}
	return s.State + ": " + s.End
}

// droppedOf returns how many frames the coordinator dropped, by cause.
func droppedOf(s *operate.Status) string {
	text, sep := strconv.FormatUint(s.Dropped, 10), ": "
	for _, d := range s.Counters.Drops() {
		if d.Count > 0 {
			text += fmt.Sprintf("%s%d %s", sep, d.Count, d.Cause)
			sep = ", "
		}
	}
	return text
}
