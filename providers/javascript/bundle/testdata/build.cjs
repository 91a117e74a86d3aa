// Builds one project with every bundler that is installed and prints, for each
// build, its files and what the bundler itself says about their modules.
const fs = require("fs"), path = require("path"), cp = require("child_process");
const base = process.argv[2];
const project = path.join(base, "project");
const out = [];

function source() {
  const files = {
    "package.json": JSON.stringify({name: "project", version: "1.0.0", private: true}),
    "src/index.js": `import React, {createElement} from "react";
import {add, mul} from "./math.js";
import * as shapes from "./shapes/index.js";
import legacy from "./legacy.cjs";
import {nanoid} from "nanoid/non-secure";
export const total = add(1, mul(2, 3));
console.log(total, shapes.area(2), legacy.name, nanoid(), createElement("b", null, String(React.version)));
import("./lazy.js").then((m) => m.run(total));
`,
    "src/math.js": `import {check} from "./check.js";
export function add(a, b) { check(a); return a + b; }
export function mul(a, b) { check(b); return a * b; }
`,
    "src/check.js": `export function check(v) { if (typeof v !== "number") throw new TypeError("not a number: " + v); }
`,
    "src/shapes/index.js": `export {area} from "./circle.js";
export * from "./square.js";
`,
    "src/shapes/circle.js": `import {mul} from "../math.js";
export const area = (r) => mul(3.14159, mul(r, r));
`,
    "src/shapes/square.js": `export const side = (a) => a * a;
console.log("square", side(4));
`,
    "src/legacy.cjs": `const inner = require("./inner.cjs");
const debounce = require("lodash.debounce");
exports.name = "legacy " + inner.label;
exports.later = debounce(function () { console.log(inner.label); }, 50);
`,
    "src/inner.cjs": `module.exports = {label: "inner label", table: [1, 2, 3]};
`,
    "src/lazy.js": `import {add} from "./math.js";
import clsx from "clsx";
export function run(n) { console.log(clsx("lazy", {big: n > 5}), add(n, 1)); }
`,
    "cjs/index.js": `const a = require("./a"), b = require("./b"), debounce = require("lodash.debounce");
console.log(a.name, b(2), typeof debounce, require("react").version);
`,
    "cjs/a.js": `const b = require("./b");
exports.name = "module a " + b(1);
`,
    "cjs/b.js": `module.exports = function double(n) { return n * 2 + " from b"; };
`,
  };
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(project, name);
    fs.mkdirSync(path.dirname(file), {recursive: true});
    fs.writeFileSync(file, text);
  }
}

// record keeps a build: dir is read, modules is [{id, path, imports: [path]}].
function record(name, dir, modules, extra) {
  const files = {};
  for (const f of fs.readdirSync(dir, {recursive: true})) {
    const full = path.join(dir, f);
    if (/\.(c|m)?js$/.test(f) && fs.statSync(full).isFile()) files[f] = fs.readFileSync(full, "utf8");
  }
  out.push({name, files, modules, ...extra});
}
const rel = (p) => path.relative(project, p.split("?")[0]).split(path.sep).join("/");

async function webpackLike(name, pkg) {
  let bundler;
  try { bundler = require(pkg); } catch (e) { process.stderr.write(`${name}: ${e.message}\n`); return; }
  const webpack = bundler.rspack || bundler;
  const variants = {
    dev: {mode: "development", devtool: false},
    "dev-eval": {mode: "development", devtool: "eval"},
    prod: {mode: "production", devtool: false, optimization: {minimize: false}},
    "prod-min": {mode: "production", devtool: false},
    "prod-apart-min": {mode: "production", devtool: false, optimization: {concatenateModules: false}},
    node: {mode: "production", devtool: false, target: "node", optimization: {concatenateModules: false}},
    runtime: {mode: "production", devtool: false, optimization: {runtimeChunk: "single", concatenateModules: false, splitChunks: {chunks: "all", minSize: 0}}},
  };
  for (const [variant, config] of Object.entries(variants)) {
    const dir = path.join(base, "out", name, variant);
    await new Promise((done) => {
      webpack({context: project, entry: "./src/index.js", output: {path: dir}, ...config}, (err, stats) => {
        if (err || stats.hasErrors()) { process.stderr.write(`${name} ${variant}: ${err || stats.toString({all: false, errors: true})}\n`); return done(); }
        const json = stats.toJson({all: false, modules: true, ids: true, reasons: true, nestedModules: true, orphanModules: true, chunks: true, chunkModules: true, modulesSpace: 1e9, nestedModulesSpace: 1e9, runtimeModules: false, moduleTrace: false, source: true});
        const modules = [];
        for (const m of json.modules) {
          if (m.moduleType === "runtime" || m.orphan || !(m.chunks || []).length) continue;
          modules.push({
            id: String(m.id), path: m.nameForCondition ? rel(m.nameForCondition) : m.name, source: m.source || null,
            nested: (m.modules || []).map((n) => ({path: n.nameForCondition ? rel(n.nameForCondition) : n.name})),
            importedBy: (m.reasons || []).filter((r) => r.moduleId !== null && r.moduleId !== undefined && /import|require|export/.test(r.type || "") && !/self/.test(r.type || "") && r.active !== false).map((r) => String(r.moduleId)),
          });
        }
        record(`${name}/${variant}`, dir, modules);
        done();
      });
    });
  }
}

async function esbuild() {
  const esb = require("esbuild");
  for (const [variant, options] of Object.entries({
    dev: {format: "iife"}, esm: {format: "esm", splitting: true}, cjs: {format: "cjs", platform: "node"}, min: {format: "iife", minify: true},
  })) {
    const dir = path.join(base, "out", "esbuild", variant);
    const r = await esb.build({entryPoints: [path.join(project, "src/index.js")], bundle: true, outdir: dir, metafile: true, absWorkingDir: project, logLevel: "silent", ...options});
    const modules = [];
    for (const [file, o] of Object.entries(r.metafile.outputs))
      for (const [input, v] of Object.entries(o.inputs)) modules.push({path: input, bytes: v.bytesInOutput, file: path.basename(file), format: r.metafile.inputs[input].format, imports: r.metafile.inputs[input].imports.filter((i) => !i.external).map((i) => i.path)});
    record(`esbuild/${variant}`, dir, modules);
  }
}

async function rollupLike(name, run) {
  try { await run(); } catch (e) { process.stderr.write(`${name}: ${e.stack}\n`); }
}
async function rollup() {
  const {rollup} = require("rollup");
  const resolve = require("@rollup/plugin-node-resolve").nodeResolve, commonjs = require("@rollup/plugin-commonjs"), replace = require("@rollup/plugin-replace"), terser = require("@rollup/plugin-terser");
  for (const [variant, output] of Object.entries({
    es: {format: "es"}, iife: {format: "iife", name: "app", inlineDynamicImports: true}, cjs: {format: "cjs"}, system: {format: "system"}, min: {format: "es", plugins: [terser()]},
  })) {
    const dir = path.join(base, "out", "rollup", variant);
    const b = await rollup({input: path.join(project, "src/index.js"), plugins: [replace({preventAssignment: true, "process.env.NODE_ENV": '"production"'}), resolve(), commonjs({strictRequires: true})], onwarn() {}});
    const w = await b.write({dir, ...output});
    const modules = [];
    for (const c of w.output) if (c.type === "chunk") for (const [id, m] of Object.entries(c.modules)) modules.push({path: rel(id.replace(/^\0/, "")), file: c.fileName, bytes: m.renderedLength, code: m.code});
    record(`rollup/${variant}`, dir, modules);
  }
}
async function vite() {
  const {build} = await import(require("url").pathToFileURL(path.join(base, "node_modules/vite/dist/node/index.js")));
  for (const [variant, extra] of Object.entries({prod: {minify: false}, "prod-min": {}})) {
    const dir = path.join(base, "out", "vite", variant);
    const modules = [];
    await build({root: project, configFile: false, logLevel: "silent", build: {outDir: dir, emptyOutDir: true, sourcemap: true, rollupOptions: {input: path.join(project, "src/index.js")}, ...extra},
      plugins: [{name: "truth", generateBundle(_, bundle) { for (const c of Object.values(bundle)) if (c.type === "chunk") for (const id of Object.keys(c.modules)) modules.push({path: rel(id.replace(/^\0/, "")), file: c.fileName}); }}]});
    record(`vite/${variant}`, dir, modules);
  }
}
async function browserify() {
  const b = require("browserify"), terser = require("terser");
  for (const variant of ["dev", "min"]) {
    const dir = path.join(base, "out", "browserify", variant);
    fs.mkdirSync(dir, {recursive: true});
    const rows = [];
    const code = await new Promise((done, fail) => {
      const br = b(path.join(project, "cjs/index.js"), {fullPaths: false});
      br.pipeline.get("label").on("data", (row) => rows.push(row));
      br.bundle((e, buf) => (e ? fail(e) : done(buf.toString())));
    });
    fs.writeFileSync(path.join(dir, "bundle.js"), variant === "min" ? (await terser.minify(code)).code : code);
    record(`browserify/${variant}`, dir, rows.map((r) => ({id: String(r.id), path: rel(r.file), source: variant === "dev" ? r.source : null, imports: Object.values(r.deps).filter((d) => d !== undefined).map(String)})));
  }
}
async function parcel() {
  const {Parcel} = require("@parcel/core");
  const fsx = new (require("@parcel/fs").NodeFS)();
  for (const [variant, options] of Object.entries({
    dev: {mode: "development", defaultTargetOptions: {shouldOptimize: false, shouldScopeHoist: false, sourceMaps: false}},
    prod: {mode: "production", defaultTargetOptions: {shouldOptimize: false, sourceMaps: false}},
    "prod-min": {mode: "production", defaultTargetOptions: {sourceMaps: false}},
  })) {
    const dir = path.join(base, "out", "parcel", variant);
    const bundler = new Parcel({entries: path.join(project, "src/index.js"), defaultConfig: require.resolve("@parcel/config-default"), shouldDisableCache: true, cacheDir: path.join(base, "parcel-cache"), ...options,
      defaultTargetOptions: {...options.defaultTargetOptions, distDir: dir, engines: {browsers: ["Chrome 100"]}}});
    const {bundleGraph} = await bundler.run();
    const modules = [];
    for (const b of bundleGraph.getBundles()) b.traverseAssets((a) => {
      modules.push({id: bundleGraph.getAssetPublicId(a), path: rel(a.filePath), file: path.basename(b.filePath), wrapped: variant === "dev" || new RegExp(`[(]"${bundleGraph.getAssetPublicId(a)}", ?function`).test(fs.readFileSync(b.filePath, "utf8")),
        imports: bundleGraph.getDependencies(a).map((d) => bundleGraph.getResolvedAsset(d, b)).filter(Boolean).map((x) => bundleGraph.getAssetPublicId(x))});
    });
    record(`parcel/${variant}`, dir, modules);
  }
}
async function metro() {
  const Metro = require("metro");
  const config = await Metro.loadConfig({}, {projectRoot: base, resolver: {sourceExts: ["js", "cjs", "json"]}, transformer: {babelTransformerPath: require.resolve("metro-babel-transformer")}, reporter: {update() {}}, watchFolders: [base], cacheStores: []});
  for (const variant of ["dev", "min"]) {
    const dir = path.join(base, "out", "metro", variant);
    fs.mkdirSync(dir, {recursive: true});
    const modules = [];
    const cfg = {...config, serializer: {...config.serializer, customSerializer: null, processModuleFilter: () => true}};
    const seen = [];
    cfg.serializer.experimentalSerializerHook = (graph) => { for (const m of graph.dependencies.values()) seen.push({path: rel(m.path), imports: [...m.dependencies.values()].map((d) => rel(d.absolutePath || "")).filter(Boolean)}); };
    const r = await Metro.runBuild(cfg, {entry: path.join(project, "cjs/index.js"), dev: variant === "dev", minify: variant === "min", platform: "web", out: path.join(dir, "bundle.js")});
    record(`metro/${variant}`, dir, seen);
  }
}

(async () => {
  source();
  const steps = {webpack: () => webpackLike("webpack", "webpack"), webpack4: () => webpackLike("webpack4", "webpack4"), rspack: () => webpackLike("rspack", "@rspack/core"), esbuild, rollup, vite, browserify, parcel, metro};
  for (const [name, run] of Object.entries(steps)) {
    try { await run(); } catch (e) { process.stderr.write(`${name}: ${e.stack}\n`); }
  }
  fs.writeFileSync(process.argv[3], JSON.stringify(out));
  process.exit(0);
})();
