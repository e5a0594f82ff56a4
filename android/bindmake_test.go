package android

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An archive is the files of a zip archive by name.
type archive map[string]string

func (a archive) write(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range a {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// segments returns the output of llvm-readelf -lW for a library whose segments have the given
// alignment.
func segments(align string) string {
	return `Program Headers:
  Type           Offset   VirtAddr           PhysAddr           FileSiz  MemSiz   Flg Align
  PHDR           0x000040 0x0000000000000040 0x0000000000000040 0x000230 0x000230 R   0x8
  LOAD           0x000000 0x0000000000000000 0x0000000000000000 0x3d2f80 0x3d2f80 R   ` + align + `
  LOAD           0x3d3000 0x00000000003d7000 0x00000000003d7000 0x2f0c30 0x2f0c30 R E ` + align + `
`
}

// A maker is a directory with a fake SDK. Its go installs a fake gomobile that copies a prepared
// archive and records its arguments. Its llvm-readelf prints the text in a library.
type maker struct {
	sdk, tools, out string
}

func newMaker(t *testing.T, aar, sources archive) maker {
	t.Helper()
	m := maker{sdk: t.TempDir(), tools: t.TempDir(),
		out: filepath.Join(t.TempDir(), "libs", "zofl.aar")}
	write(t, filepath.Join(m.sdk, "platforms/android-36/android.jar"), "")
	ndk := filepath.Join(m.sdk, "ndk/28.2.13676358")
	write(t, filepath.Join(ndk, "source.properties"), "Pkg.Revision = 28.2.13676358\n")
	program(t, filepath.Join(ndk, "toolchains/llvm/prebuilt/any/bin/llvm-readelf"), `cat "$2"`)
	program(t, filepath.Join(m.tools, "go"), `mkdir -p "$3"
cp "$MAKER/gomobile" "$MAKER/gobind" "$3"`)
	program(t, filepath.Join(m.tools, "gobind"), `cp -r "$GENERATED/." "${2#-outdir=}"`)
	program(t, filepath.Join(m.tools, "javac"), "exit 1")
	program(t, filepath.Join(m.tools, "gomobile"), `printf '%s\n' "$@" >"$MAKER/arguments"
mkdir "$MAKER/bound"
gobind -lang=go,java -outdir="$MAKER/bound" github.com/zofl/zofl/client/mobile
while [ "$1" != -o ]; do shift; done
cp "$MAKER/made.aar" "$2"
cp "$MAKER/made-sources.jar" "${2%.aar}-sources.jar"`)
	aar.write(t, filepath.Join(m.tools, "made.aar"))
	sources.write(t, filepath.Join(m.tools, "made-sources.jar"))
	return m
}

// program creates a shell script.
func program(t *testing.T, path, script string) {
	t.Helper()
	write(t, path, "#!/bin/sh\nset -e\n"+script+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// bind runs bind.sh with the fake SDK. bind returns the output and gomobile's arguments.
func (m maker) bind(t *testing.T) (said string, arguments []string, err error) {
	t.Helper()
	cmd := exec.Command("./bind.sh", m.out)
	cmd.Env = append(os.Environ(), "ANDROID_HOME="+m.sdk, "ANDROID_NDK_HOME=",
		"TARGET=", "MAKER="+m.tools, "GENERATED="+generated(t),
		"PATH="+m.tools+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	text, _ := os.ReadFile(filepath.Join(m.tools, "arguments"))
	return string(out), strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

// good returns the archives that gomobile makes without an error. Pages of 4 KiB suffice for 32
// bits.
func good() (aar, sources archive) {
	return archive{
		"proguard.txt":                "-keep class go.** { *; }\n-keep class zofl.** { *; }\n",
		"classes.jar":                 "classes",
		"jni/arm64-v8a/libgojni.so":   segments("0x4000"),
		"jni/armeabi-v7a/libgojni.so": segments("0x1000"),
		"jni/x86_64/libgojni.so":      segments("0x10000"),
	}, archive{"zofl/mobile/Client.java": "package zofl.mobile;\n"}
}

// TestBindMakes checks that bind.sh takes a good archive for the library, and calls gomobile with
// the right options.
func TestBindMakes(t *testing.T) {
	aar, sources := good()
	m := newMaker(t, aar, sources)
	said, arguments, err := m.bind(t)
	if err != nil {
		t.Fatalf("bind.sh: %v\n%s", err, said)
	}
	name := strings.TrimSuffix(m.out, ".aar")
	for _, path := range []string{m.out, name + "-sources.jar", name + ".jar",
		filepath.Join(filepath.Dir(m.out), "jni/arm64-v8a/libgojni.so")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	glue, err := os.ReadFile(filepath.Join(m.tools, "bound/src/gobind/universe_android.c"))
	if err != nil || !strings.Contains(string(glue), `FindClass(env, "go/Thrown")`) {
		t.Errorf("gobind's code does not pass on who threw: %v", err)
	}
	if _, err := os.Stat(filepath.Join(m.tools, "bound/java/go/Thrown.java")); err != nil {
		t.Error(err)
	}
	versions, err := os.ReadFile("gradle/libs.versions.toml")
	if err != nil {
		t.Fatal(err)
	}
	minSDK := regexp.MustCompile(`minSdk = "(\d+)"`).FindSubmatch(versions)
	if minSDK == nil {
		t.Fatal("gradle/libs.versions.toml has no minSdk")
	}
	at := slices.Index(arguments, "-androidapi")
	if at < 0 || arguments[at+1] != string(minSDK[1]) {
		t.Errorf("gomobile is called with %q, want the library's minSdk, %s", arguments, minSDK[1])
	}
	for _, want := range []string{
		"-javapkg=zofl", "-target=android/arm64,android/arm,android/amd64",
		"-s -w '-extldflags=-Wl,-z,max-page-size=16384'", "github.com/zofl/zofl/client/mobile",
	} {
		if !slices.Contains(arguments, want) {
			t.Errorf("gomobile is called with %q, want %q among them", arguments, want)
		}
	}
}

// TestBindRefuses checks that bind.sh refuses an archive that would fail in an app.
func TestBindRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(aar, sources archive)
		says  string
	}{
		"arm64 of small pages": {func(aar, _ archive) {
			aar["jni/arm64-v8a/libgojni.so"] = segments("0x1000")
		}, "arm64-v8a: libgojni.so is not aligned"},
		"amd64 of small pages": {func(aar, _ archive) {
			aar["jni/x86_64/libgojni.so"] = segments("0x2000")
		}, "x86_64: libgojni.so is not aligned"},
		"no library": {func(aar, _ archive) {
			aar["jni/x86_64/libgojni.so"] = "no segments"
		}, "x86_64: libgojni.so is not aligned"},
		"R8 removes the app's": {func(aar, _ archive) {
			aar["proguard.txt"] = "-keep class go.** { *; }\n"
		}, "no rule that keeps classes of zofl"},
		"R8 removes Go's": {func(aar, _ archive) {
			aar["proguard.txt"] = "-keep class zofl.** { *; }\n"
		}, "no rule that keeps classes of go"},
		"something is skipped": {func(_, sources archive) {
			sources["zofl/mobile/Client.java"] = "// skipped method\n"
		}, "gobind skips"},
	} {
		t.Run(name, func(t *testing.T) {
			aar, sources := good()
			c.spoil(aar, sources)
			m := newMaker(t, aar, sources)
			said, _, err := m.bind(t)
			if err == nil || !strings.Contains(said, c.says) {
				t.Errorf("%v: says %q, want an error with %q", err, said, c.says)
			}
			if _, err := os.Stat(m.out); err == nil {
				t.Error("the AAR became the library's")
			}
		})
	}
}
