// Record runs a command and draws what it prints as a picture that moves: each line appears when it
// was printed, as in a terminal.
//
//	go -C docs/site run ./cmd/record -out ../img/demo -- zofl demo --rounds 100
//
// It writes DIR-light.svg and DIR-dark.svg. Readers who want less motion see the last frame.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

func main() {
	out := flag.String("out", "", "`file` of the pictures, without -light.svg and -dark.svg")
	length := flag.Duration("length", 12*time.Second, "of the picture, however long the command took")
	flag.Parse()
	if err := run(*out, *length, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(out string, length time.Duration, command []string) error {
	if out == "" || len(command) == 0 {
		return errors.New("usage: record -out FILE -- COMMAND ...")
	}
	lines, err := watch(command)
	if err != nil {
		return err
	}
	for name, t := range themes {
		b := draw("$ "+strings.Join(command, " "), lines, length, t)
		if err := os.WriteFile(out+"-"+name+".svg", b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A line is what a command printed, and when, as a share of its run.
type line struct {
	text string
	at   float64
}

// watch runs a command and returns the lines that it prints.
func watch(command []string) ([]line, error) {
	c := exec.Command(command[0], command[1:]...)
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	begun := time.Now()
	if err := c.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		err := c.Wait()
		in.Close()
		ended <- err
	}()
	lines, err := read(out, func() float64 { return time.Since(begun).Seconds() })
	if err := errors.Join(err, <-ended); err != nil {
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s printed nothing", command[0])
	}
	whole := time.Since(begun).Seconds()
	for i := range lines {
		lines[i].at /= whole
	}
	return lines, nil
}

func read(r io.Reader, now func() float64) (lines []line, err error) {
	in := bufio.NewScanner(r)
	for in.Scan() {
		lines = append(lines, line{strings.TrimRight(in.Text(), " "), now()})
	}
	return lines, in.Err()
}

// A theme is the colors of a picture.
type theme struct{ back, edge, text, prompt string }

var themes = map[string]theme{
	"light": {"#ffffff", "#d0d7de", "#1f2328", "#0969da"},
	"dark":  {"#0d1117", "#30363d", "#e6edf3", "#58a6ff"},
}

// Of a picture, in pixels: the width of a character, the height of a line, and the margin.
const character, height, margin = 7.8, 19, 16

// draw returns a picture of a prompt and the lines below it.
func draw(prompt string, lines []line, length time.Duration, t theme) []byte {
	wide := utf8.RuneCountInString(prompt)
	for _, l := range lines {
		wide = max(wide, utf8.RuneCountInString(l.text))
	}
	w, h := int(float64(wide)*character)+2*margin, (len(lines)+1)*height+2*margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `+
		`viewBox="0 0 %[1]d %[2]d">
<style>
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: %[3]s }
.l { white-space: pre; animation: show 1ms both }
@keyframes show { from { visibility: hidden } to { visibility: visible } }
@media (prefers-reduced-motion: reduce) { .l { animation: none } }
</style>
<rect x=".5" y=".5" width="%[4]d" height="%[5]d" rx="8" fill="%[6]s" stroke="%[7]s"/>
`, w, h, t.text, w-1, h-1, t.back, t.edge)
	row := margin + 13
	fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" style="fill:%[3]s">%[4]s</text>`+"\n", margin, row,
		t.prompt, html.EscapeString(prompt))
	for _, l := range lines {
		row += height
		fmt.Fprintf(&b, `<text class="l" xml:space="preserve" x="%d" y="%d" `+
			`style="animation-delay:%.2fs">%s</text>`+"\n", margin, row, 0.5+l.at*length.Seconds(),
			html.EscapeString(l.text))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
