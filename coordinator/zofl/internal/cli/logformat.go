package cli

import (
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
)

// A LogFormat is the value of the flag --log-format: the format in which a command logs. The zero
// value is text.
type LogFormat struct{ JSON bool }

// Flag adds the flag.
func (f *LogFormat) Flag(cmd *cobra.Command) {
	cmd.Flags().Var(f, "log-format", "how messages are written: text, or json")
}

// Choices is part of [Chooser].
func (f *LogFormat) Choices() []string { return []string{"text", "json"} }

// Logger returns a logger that writes messages of at least a level.
func (f *LogFormat) Logger(out io.Writer, level slog.Level) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if f.JSON {
		return slog.New(slog.NewJSONHandler(out, opts))
	}
	return slog.New(slog.NewTextHandler(out, opts))
}

// LogFormatOf returns the log format of a command. A command without the flag has the format text.
func LogFormatOf(cmd *cobra.Command) *LogFormat {
	if flag := cmd.Flags().Lookup("log-format"); flag != nil {
		if f, ok := flag.Value.(*LogFormat); ok {
			return f
		}
	}
	return &LogFormat{}
}

// String is part of [pflag.Value].
func (f *LogFormat) String() string {
	if f.JSON {
		return "json"
	}
	return "text"
}

// Set is part of [pflag.Value].
func (f *LogFormat) Set(name string) error {
	if name != "text" && name != "json" {
		return errors.New("choose text or json")
	}
	f.JSON = name == "json"
	return nil
}

// Type is part of [pflag.Value].
func (f *LogFormat) Type() string { return "format" }
