package lossprogram

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asProgram makes the test's binary behave as a loss program, well or badly.
const asProgram = "ZOFL_TEST_AS_LOSS"

func TestMain(m *testing.M) {
	how := os.Getenv(asProgram)
	if greeting, ok := strings.CutPrefix(how, "idle "); ok {
		idle(greeting)
		return
	}
	if greeting, ok := strings.CutPrefix(how, "bowl "); ok {
		bowl(greeting)
		return
	}
	if how == "parent" {
		parent()
		return
	}
	if how != "" {
		speak(how)
		return
	}
	os.Exit(m.Run())
}

// idle answers without computing anything.
func idle(greeting string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, args, _ := strings.Cut(in.Text(), " ")
		switch verb {
		case "hello":
			fmt.Println(greeting)
		case "map":
			fmt.Println("ok")
		case "loss":
			_, args, _ = strings.Cut(args, "points=")
			args, _, _ = strings.Cut(args, " ")
			n, _ := strconv.Atoi(args)
			fmt.Println("loss" + strings.Repeat(" 1", n))
		}
	}
}

const testDim = 3

// speak answers requests. Its loss at x is x[0] + 10 x[1] + 100 x[2], plus half the size of the
// minibatch.
func speak(how string) {
	var path string
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		args := map[string]string{}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			args[key] = value
		}
		switch words[0] {
		case "hello":
			fmt.Println(greeting(how))
		case "map":
			path = args["path"]
			fmt.Println("ok")
		case "loss":
			answerLoss(how, path, args)
		case "evaluate":
			x := points(path, 1)[0]
			fmt.Printf("metrics %v 0.5 samples=7\n", x[0])
		case "gradient":
			answerGradient(how, path)
		}
	}
	if how == "stubborn" {
		time.Sleep(time.Hour)
	}
}

func greeting(how string) string {
	switch how {
	case "silent":
		time.Sleep(time.Hour)
	case "chatty":
		return "Welcome to my model!"
	case "exits":
		os.Exit(3)
	case "contrary":
		return fmt.Sprintf("hello 1 dim=%d gradient=1", testDim)
	case "evaluates":
		return fmt.Sprintf("hello 1 dim=%d evaluate=1 gradient=1 samples=11 future=x", testDim)
	case "leaves": // after its restart it says nothing
		if os.Mkdir(os.Getenv("ZOFL_TEST_MARK"), 0o700) != nil {
			fmt.Fprintln(os.Stderr, "silent now")
			time.Sleep(time.Hour)
		}
	case "any":
		return "hello 1 dim=0"
	case "changes":
		return fmt.Sprintf("hello 1 dim=%d samples=%d", testDim, os.Getpid())
	}
	return fmt.Sprintf("hello 1 dim=%d points=2", testDim)
}

func answerLoss(how, path string, args map[string]string) {
	n, _ := strconv.Atoi(args["points"])
	size, _ := strconv.Atoi(args["size"])
	switch once := os.Getenv("ZOFL_TEST_ONCE"); {
	case once == "":
	case os.Remove(once) != nil:
		how = "well" // it went wrong before
	}
	switch how {
	case "leaves":
		os.Exit(3)
	case "word":
		fmt.Println("loss none", strings.Repeat(" 1", n-1))
		return
	case "short":
		fmt.Println("loss")
		return
	case "error":
		fmt.Println("error the camera is off")
		return
	case "garbage":
		fmt.Println("epoch 1 done")
		return
	case "long":
		fmt.Println("loss", strings.Repeat("1", longestLine))
		return
	case "half":
		fmt.Print("loss 1")
		os.Exit(7)
	case "cuts":
		_ = os.Truncate(path, 0)
		fmt.Println("loss 1 1")
		return
	case "twice":
		fmt.Println("loss 1\nloss 2")
		return
	case "chats":
		fmt.Println("epoch 1 done\nloss 1 1")
		return
	case "dies", "changes":
		os.Exit(7)
	case "hangs":
		child := exec.Command("sleep", "3600")
		child.Stdout = os.Stdout // holds the pipe
		_ = child.Start()
		_ = os.WriteFile(os.Getenv("ZOFL_TEST_PIDS"), fmt.Append(nil, os.Getpid(), " ",
			child.Process.Pid), 0o600)
		fmt.Fprintln(os.Stderr, "hanging")
		time.Sleep(time.Hour)
	case "late":
		fmt.Fprintln(os.Stderr, "late")
		_, _ = os.ReadFile(os.Getenv("ZOFL_TEST_LATE")) // a pipe: until the test opens it
	}
	fmt.Fprintln(os.Stderr, "computing", args["device"])
	fmt.Print("loss")
	for _, x := range points(path, n) {
		fmt.Print(" ", x[0]+10*x[1]+100*x[2]+float64(size)/2)
	}
	fmt.Println()
}

func answerGradient(how, path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	defer f.Close()
	var g []byte
	for _, v := range []float32{1, 10, 100} {
		if how == "contrary" {
			v = -v
		}
		g = binary.LittleEndian.AppendUint32(g, math.Float32bits(v))
	}
	_, _ = f.WriteAt(g, 4*testDim)
	fmt.Println("loss 2.5")
}

// points reads n points of the file.
func points(path string, n int) [][]float64 {
	raw, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	all := make([][]float64, n)
	for i := range 4 * testDim * n / 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		all[i/testDim] = append(all[i/testDim], float64(v))
	}
	return all
}

// parent is a process that a test kills. It starts a program and asks it for losses.
func parent() {
	_ = os.Setenv(asProgram, os.Getenv("ZOFL_TEST_CHILD"))
	p, err := Start(context.Background(), Config{Command: []string{os.Args[0]},
		Lock:   os.Getenv("ZOFL_TEST_LOCK"),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = ask(context.Background(), p)
}
