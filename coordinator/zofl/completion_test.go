package main

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"weak"
)

// TestCompletes: zofl has a completion script for every shell, and completes the values of flags
// that take names.
func TestCompletes(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, out, text := runs(t, "completion", shell); code != 0 ||
			!strings.Contains(out, "__complete") {
			t.Errorf("%s: exit code %d: %s", shell, code, text)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"plan", "--preset", "dec"}, "decomfl\n"},
		{[]string{"demo", "--method", "mez"}, "mezo\n"},
		{[]string{"client", "--objective", "bo"}, "bowl\n"},
		{[]string{"client", "--log-format", "j"}, "json\n"},
		{[]string{"compl"}, "completion\t"},
		{[]string{"wat"}, "watch\t"},
	} {
		code, out, text := runs(t, append([]string{"__complete"}, c.args...)...)
		if code != 0 || !strings.Contains("\n"+out, "\n"+c.want) {
			t.Errorf("%v: exit code %d: %q %s", c.args, code, out, text)
		}
	}
}

// TestCommandsAreFreed: a process that makes many commands, as that of these tests does, keeps none
// that has ended.
func TestCommandsAreFreed(t *testing.T) {
	cmd := root()
	cmd.SetOut(io.Discard)
	cmd.SetArgs([]string{"plan", "--preset", "decomfl", "--dim", "1000"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := weak.Make(cmd)
	for range 10 { // finalizers may take a collection each
		runtime.GC()
	}
	if kept.Value() != nil {
		t.Error("something keeps a command that has ended")
	}
}

// bashCompletes returns how bash completes a line with the program's script. It replaces a function
// of the package bash-completion, which may be missing, and compopt, which works only while a user
// presses a key.
const bashCompletes = `
compopt() { :; }
zofl() { ` + asProgram + `=1 "$SELF" "$@"; }
_get_comp_words_by_ref() {
	words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD-1]}
}
source <(zofl completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
__start_zofl
printf '%s\n' "${COMPREPLY[@]}"
`

// TestBashCompletes: bash completes a command, and the name of a preset.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: ", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"zofl histo", "history"},
		{"zofl plan --preset hisa", ""}, // no such preset, and no names of files either
		{"zofl plan --preset mez", "mezo"},
		{"zofl client --objective dig", "digits"},
	} {
		args := append([]string{"-c", bashCompletes, "bash"}, strings.Fields(c.line)...)
		cmd := exec.CommandContext(t.Context(), bash, args...)
		cmd.Env = append(os.Environ(), "SELF="+self)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: completed by %q, %v; want %q", c.line, got, err, c.want)
		}
	}
}
