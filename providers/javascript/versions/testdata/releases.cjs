// Bundles a set of packages as they lie in one folder, minified, with several
// bundlers, and prints for each build its text and, from the bundler's own source
// map, which original file each place of it comes from.
//
// usage: node releases.cjs TOOLS PACKAGES ENTRIES-JSON
const fs = require("fs"), os = require("os"), path = require("path"), crypto = require("crypto");
const [tools, packages, entriesText] = process.argv.slice(2);
const entries = JSON.parse(entriesText);
const load = (name) => require(require.resolve(name, {paths: [tools]}));
const {TraceMap, eachMapping} = load("@jridgewell/trace-mapping");
const out = [];

// project is a folder beside the packages, so that paths from it are the same in
// both releases.
const project = path.join(packages, "project");
fs.mkdirSync(project, {recursive: true});
const entry = path.join(project, "entry.js");

const clean = (p) => {
  p = p.replace(/\?.*$/, "");
  const at = p.lastIndexOf("node_modules/");
  return at < 0 ? "project/" + path.basename(p) : p.slice(at);
};
const {minify} = load("terser");
const known = new Map();
// digest is that of the code of a file: comments, layout and local names do not
// count.
async function digest(text) {
  const raw = crypto.createHash("sha256").update(text).digest("hex");
  if (known.has(raw)) return known.get(raw);
  let code = text;
  try { code = (await minify(text, {compress: false, mangle: {toplevel: true}, module: /\bexport\b/.test(text)})).code; } catch {}
  const sum = crypto.createHash("sha256").update(code).digest("hex");
  known.set(raw, sum);
  return sum;
}

// origins gives, for each place of text that a map knows, the file it is from.
async function origins(text, map) {
  const trace = new TraceMap(map);
  const starts = [0];
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  const offsets = [], sources = [], names = [], digests = [], index = new Map();
  for (let i = 0; i < trace.sources.length; i++) {
    names.push(clean(trace.sources[i] || ""));
    digests.push(trace.sourcesContent && trace.sourcesContent[i] != null ? await digest(trace.sourcesContent[i]) : "");
    index.set(trace.resolvedSources[i], i);
  }
  eachMapping(trace, (m) => {
    if (m.source == null) return;
    offsets.push(starts[m.generatedLine - 1] + m.generatedColumn);
    sources.push(index.get(m.source));
  });
  return {names, digests, offsets, sources};
}

async function keep(name, builder, text, map) {
  if (/[^\x00-\x7f]/.test(text)) throw new Error(`${name} ${builder}: places are counted in bytes`);
  out.push({name, builder, text, ...await origins(text, JSON.parse(map))});
}

async function esbuild(name) {
  const r = await load("esbuild").build({
    entryPoints: [entry], bundle: true, minify: true, platform: "node", sourcemap: "external", outfile: "out.js", write: false,
    plugins: [{name: "shipped files only", setup(b) {
      b.onLoad({filter: /\.[cm]?js$/}, (a) => ({contents: fs.readFileSync(a.path, "utf8").replace(/\/\/# sourceMappingURL=.*/g, ""), loader: "js"}));
    }}],
    charset: "ascii", legalComments: "none", logLevel: "silent", absWorkingDir: project,
  });
  await keep(name, "esbuild", r.outputFiles.find((f) => f.path.endsWith(".js")).text, r.outputFiles.find((f) => f.path.endsWith(".map")).text);
}

function webpack(name, builder, extra) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "rea-webpack-"));
  const Terser = load("terser-webpack-plugin");
  return new Promise((resolve, reject) => load("webpack")({
    mode: "production", target: "node", context: project, entry, devtool: "hidden-source-map", performance: {hints: false}, ...extra,
    output: {path: dir, filename: "out.js"},
    optimization: {minimizer: [new Terser({extractComments: false, terserOptions: {format: {ascii_only: true, comments: false}}})], ...extra.optimization},
  }, (err, stats) => {
    if (err || stats.hasErrors()) return reject(err || new Error(stats.toString("errors-only")));
    keep(name, builder, fs.readFileSync(path.join(dir, "out.js"), "utf8"), fs.readFileSync(path.join(dir, "out.js.map"), "utf8"))
      .then(() => { fs.rmSync(dir, {recursive: true}); resolve(); }, reject);
  }));
}

(async () => {
  for (const [name, requires] of Object.entries(entries)) {
    fs.writeFileSync(entry, requires.map((r) => `console.log(require(${JSON.stringify(r)}));\n`).join(""));
    await webpack(name, "webpack", {});
    if (["express", "lodash", "semver"].includes(name)) await webpack(name, "webpack-natural-ids", {optimization: {moduleIds: "natural"}});
    await esbuild(name);
  }
  process.stdout.write(JSON.stringify(out));
})().catch((e) => { console.error(e); process.exit(1); });
