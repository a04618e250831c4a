/*
 * Run a script in MicroPython's WebAssembly build, with the files of the current folder.
 *
 *     node run.mjs PACKAGES SCRIPT
 *
 * PACKAGES is a folder with node_modules/.
 */
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { argv, stdout } from "node:process";
import { pathToFileURL } from "node:url";

const [packages, script] = argv.slice(2);
const build = "node_modules/@micropython/micropython-webassembly-pyscript/micropython.mjs";
const { loadMicroPython } = await import(pathToFileURL(resolve(packages, build)));
const python = await loadMicroPython({
  heapsize: 8 << 20,
  linebuffer: true,
  stdout: (line) => stdout.write(`${line}\n`),
});
for (const name of readdirSync(".")) {
  python.FS.writeFile(`/${name}`, readFileSync(name));
}
python.FS.chdir("/");
python.runPython(`import sys\nsys.path.append("/")\n${readFileSync(script, "utf8")}`);
