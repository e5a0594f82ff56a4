package main

import (
	"path"
	"strings"
)

// A section is a part of the navigation.
type section struct {
	Name  string
	Pages []entry
}

// An entry is a page of a section: a Markdown file of the repository, and its name there.
type entry struct{ File, Name string }

// home is the page that readers see first.
const home = "docs/README.md"

// noPages are Markdown files for forges such as GitHub alone.
var noPages = []string{"CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"}

// sections lists every page once. A Markdown file that is missing here is an error.
var sections = []section{
	{"Start here", []entry{
		{home, "Home"},
		{"docs/start.md", "Five minutes to a run"},
		{"docs/app.md", "In a Go app"},
		{"docs/android.md", "Android"},
		{"apple/README.md", "iOS"},
		{"docs/engines.md", "Inference engines"},
		{"c/README.md", "The core in C"},
		{"c/examples/engine/README.md", "C in llama.cpp"},
		{"libzofl/README.md", "The client as a library"},
		{"examples/raspberrypi/README.md", "Raspberry Pi"},
		{"examples/sensor/README.md", "Sensors and Home Assistant"},
		{"python/README.md", "Python"},
		{"docs/torch.md", "PyTorch"},
		{"docs/exec.md", "Any other language"},
		{"examples/browser/README.md", "Browser tabs"},
		{"docs/faq.md", "Questions"},
	}},
	{"Train well", []entry{
		{"docs/choose.md", "Which method"},
		{"docs/methods.md", "Methods and options"},
		{"docs/models.md", "Begin with a model"},
		{"docs/plan.md", "A plan by section"},
		{"docs/tune.md", "Find the settings"},
		{"docs/simulate.md", "Simulate a run"},
		{"docs/devices.md", "What a device costs"},
	}},
	{"Operate", []entry{
		{"docs/operate.md", "Lead a run"},
		{"docs/recover.md", "Recover a run"},
		{"docs/dashboard.md", "The dashboard"},
		{"docs/results.md", "What became of a run"},
		{"docs/scaling.md", "Many devices"},
		{"docs/faults.md", "What can go wrong"},
		{"docs/security.md", "Security"},
		{"docs/privacy.md", "Privacy"},
		{"docs/liars.md", "Devices that lie"},
		{"docs/performance.md", "Performance"},
		{"docs/release.md", "Install and release"},
	}},
	{"Examples", []entry{
		{"examples/android/README.md", "An Android app"},
		{"docs/android-build.md", "Build for Android"},
		{"examples/onnx/README.md", "A closed int8 model"},
		{"examples/lora/README.md", "A language model"},
		{"examples/llm/README.md", "A pretrained language model"},
		{"examples/pid/README.md", "Controllers"},
		{"examples/exec/README.md", "Losses in four languages"},
		{"examples/python/README.md", "A notebook"},
	}},
	{"Specifications", []entry{
		{"docs/wire.md", "Plans and frames"},
		{"docs/device.md", "Write a device"},
		{"docs/prng.md", "Directions"},
		{"docs/replay.md", "Replay"},
		{"docs/state.md", "State and logs"},
		{"docs/sealed.md", "Sealed snapshots"},
		{"docs/secagg.md", "Secure aggregation"},
		{"docs/found.md", "How a run finds mu, step and groups"},
		{"docs/attacks.md", "Attacks that were tried"},
	}},
	{"Project", []entry{
		{"README.md", "Zofl on one page"},
		{"docs/compare.md", "Zofl or another tool?"},
		{"docs/terms.md", "Terms"},
		{"docs/papers.md", "What the papers have"},
		{"papers/RESULTS.md", "Results of experiments"},
		{"docs/architecture.md", "The map of the code"},
		{"docs/contributing.md", "Contributing"},
		{"CHANGELOG.md", "Changes"},
	}},
}

// address returns the file name that a Markdown file gets in the site. All files are in one folder,
// so that a link is a file name.
func address(file string) string {
	name := strings.TrimSuffix(file, ".md")
	switch {
	case file == home:
		return "index.html"
	case name == "README":
		return "zofl.html"
	}
	name = strings.TrimSuffix(name, "/README")
	name = strings.TrimPrefix(name, "docs/")
	return strings.ToLower(strings.ReplaceAll(name, "/", "-")) + ".html"
}

// resource returns the file name that a picture of the repository gets in the site.
func resource(file string) string { return "img-" + path.Base(file) }
