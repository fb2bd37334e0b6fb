// Takes out of installed packages what no gateway reads: declarations, source maps, tests and examples, other platforms' binaries, unused fonts.
// For an image: node scripts/slim.mjs node_modules. Licences stay. Knows no package but those that are large without need.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Folders of a package, beside its package.json, that are for who works on it. */
const WORKSHOP = new Set(['.github', 'benchmark', 'benchmarks', 'example', 'examples', 'test', 'tests']);
/** What is kept of packages, by their paths inside. */
const KEPT = {
  'dejavu-fonts-ttf': /^(package\.json|LICENSE|ttf\/DejaVuSans(Mono.*)?\.ttf)$/,
  'node-pty': /^(package\.json|LICENSE|lib\/.*\.js|build\/Release\/pty\.node)$/,
};

const root = process.argv[2];
if (!root || basename(root) !== 'node_modules' || !existsSync(root)) {
  console.error(`expected the path of a folder node_modules, not ${root}`);
  process.exit(64);
}

const isPackage = (folder) => existsSync(join(folder, 'package.json'));
const isUnread = (file) => /\.(map|md|[cm]?ts)$/.test(file) && !/licen[cs]e|notice/i.test(file);
const isWorkshop = (folder) => WORKSHOP.has(basename(folder)) && isPackage(dirname(folder));

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

function slim(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && isWorkshop(path)) rmSync(path, { recursive: true });
    else if (entry.isDirectory()) slim(path);
    else if (isUnread(entry.name)) rmSync(path);
  }
}

slim(root);
for (const [name, kept] of Object.entries(KEPT)) {
  const folder = join(root, name);
  for (const file of filesBelow(folder)) if (!kept.test(relative(folder, file))) rmSync(file);
}
