package chart

import "html/template"

// Style is the CSS that colors charts in both themes: lines by the classes c0 to c9, other parts by
// their kind.
const Style = `.plot .back { fill: #fff; } .plot text { fill: #1f2329; }
.plot .axis { stroke: #57606a; fill: none; } .plot .grid { stroke: #dde1e6; }
.plot .rule { stroke: #8a939e; stroke-dasharray: 3 3; } .plot .failed { stroke: #c9252d; }
.plot polyline { fill: none; stroke-width: 1.6; } .plot .faint polyline { opacity: 0.3; }
.c0 { --line: #1f6fb4; } .c1 { --line: #c75d00; } .c2 { --line: #23842b; } .c3 { --line: #c9252d; }
.c4 { --line: #7f55b0; } .c5 { --line: #7c4a3f; } .c6 { --line: #bd4d9c; } .c7 { --line: #686868; }
.c8 { --line: #76770f; } .c9 { --line: #0f8795; }
.plot polyline, .plot .range { stroke: var(--line); }
.plot circle, .plot .key { fill: var(--line); }
@media (prefers-color-scheme: dark) {
.plot .back { fill: #0f1319; } .plot text { fill: #dde3ea; }
.plot .axis { stroke: #9aa7b5; } .plot .grid { stroke: #28313d; } .plot .rule { stroke: #7d8997; }
.c0 { --line: #6cb2f0; } .c1 { --line: #ffa657; } .c2 { --line: #63cf6c; } .c3 { --line: #ff7b80; }
.c4 { --line: #bf9cf0; } .c5 { --line: #cfa091; } .c6 { --line: #f29ad6; } .c7 { --line: #b3b3b3; }
.c8 { --line: #d3d36a; } .c9 { --line: #5ed4e2; }
.plot .failed { stroke: #ff7b80; }
}
`

var picture = template.Must(template.New("chart").Funcs(template.FuncMap{
	"half": func(a, b float64) float64 { return (a + b) / 2 },
	"add":  func(a, b float64) float64 { return a + b },
}).Parse(`<svg xmlns="http://www.w3.org/2000/svg" class="plot" ` +
	`{{if .Style}}width="{{.F.Width}}" height="{{.F.Height}}" {{end}}` +
	`viewBox="0 0 {{.F.Width}} {{.F.Height}}" role="img" aria-label="{{.Title}}" ` +
	`font-family="sans-serif" font-size="12">
{{with .Style}}<style>{{.}}</style>
{{end}}<rect class="back" width="{{.F.Width}}" height="{{.F.Height}}"/>
{{if .Style}}<text x="{{half .F.Left .F.Right}}" y="30" text-anchor="middle" font-size="14">` +
	`{{.Title}}</text>
<text x="16" y="40">{{.Y}}</text>
{{end}}<text x="{{half .F.Left .F.Right}}" y="{{add .F.Bottom 44}}"` +
	` text-anchor="middle">{{.X}}</text>
{{range .TicksX}}<path class="axis" d="M{{.X}} {{$.F.Bottom}}v5"/>
<text x="{{.X}}" y="{{add $.F.Bottom 20}}" text-anchor="middle">{{.Title}}</text>
{{end}}{{range .TicksY}}<path class="grid" d="M{{$.F.Left}} {{.Y}}H{{$.F.Right}}"/>
<text x="{{add $.F.Left -8}}" y="{{.Y}}" dy="4" text-anchor="end">{{.Title}}</text>
{{end}}<path class="axis" d="M{{.F.Left}} {{.F.Top}}V{{.F.Bottom}}H{{.F.Right}}"/>
{{range .Rules}}<path class="rule" d="M{{.X}} {{$.F.Top}}V{{$.F.Bottom}}">` +
	`<title>{{.Title}}</title></path>
{{end}}{{range .Lines}}<g class="{{.Class}}"><polyline ` +
	`points="{{range .Points}}{{.X}},{{.Y}} {{end}}"/>
{{range .Ranges}}<path class="range" d="M{{.X}} {{.Low}}V{{.High}}"/>
{{end}}{{range .Marks}}<circle cx="{{.X}}" cy="{{.Y}}" r="4"><title>{{.Title}}</title></circle>
{{end}}{{if .LegendY}}<rect class="key" x="575" y="{{.LegendY}}" width="14" height="4"/>
<text x="594" y="{{.LegendY}}" dy="6">{{.Name}}</text>
{{end}}</g>
{{end}}{{range .Failed}}<path class="failed" d="M{{.X}} {{add $.F.Top 10}}m-4 -4l8 8m0 -8l-8 8">` +
	`<title>{{.Title}}</title></path>
{{end}}</svg>
`))
