// Writes what the gateway is made of (CycloneDX 1.6, JSON) from package-lock.json alone: npm run sbom [-- FILE], by default dist/sbom.json.
// Without what only development needs; no network, and the same bytes for the same lock file.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const read = (name) => readFileSync(path.join(root, name), 'utf8');
const lock = read('package-lock.json');
const { packages } = JSON.parse(lock);
const { name, version, license } = packages[''];

/** https://github.com/package-url/purl-spec: a scope's @ is escaped. */
const purl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
const nameAt = (place, { name }) => name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
/** `sha512-<base64>`, of what npm downloads. */
const hashes = (integrity) => {
  const [algorithm, digest] = (integrity ?? '').split('-', 2);
  return digest ? [{ alg: algorithm.replace('sha', 'SHA-').toUpperCase(), content: Buffer.from(digest, 'base64').toString('hex') }] : [];
};
const licenses = (license) => (license ? [/ (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }] : []);

/** Where Node finds a dependency of the package at `place`: in its own folder, or in those above. */
function resolved(place, dependency) {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const found = path.posix.join(at, 'node_modules', dependency);
    if (packages[found]) return found;
    if (at === '') return undefined;
  }
}

const shipped = Object.entries(packages).filter(([place, { dev, link }]) => place !== '' && !dev && !link);
const refOf = (place) => (place === '' ? purl(name, version) : `${purl(nameAt(place, packages[place]), packages[place].version)}#${place}`);
const component = ([place, entry]) => ({
  type: 'library',
  'bom-ref': refOf(place),
  name: nameAt(place, entry),
  version: entry.version,
  purl: purl(nameAt(place, entry), entry.version),
  scope: entry.optional ? 'optional' : 'required',
  licenses: licenses(entry.license),
  hashes: hashes(entry.integrity),
});
const needs = ([place, { dependencies = {}, optionalDependencies = {} }]) => ({
  ref: refOf(place),
  dependsOn: Object.keys({ ...dependencies, ...optionalDependencies })
    .map((dependency) => resolved(place, dependency))
    .filter((found) => found && !packages[found].dev)
    .map(refOf)
    .sort(),
});
const sha = createHash('sha256').update(lock).digest('hex');
const bom = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: `urn:uuid:${sha.slice(0, 8)}-${sha.slice(8, 12)}-4${sha.slice(13, 16)}-8${sha.slice(17, 20)}-${sha.slice(20, 32)}`,
  version: 1,
  metadata: {
    component: { type: 'application', 'bom-ref': refOf(''), name, version, purl: purl(name, version), licenses: licenses(license) },
    properties: [{ name: 'package-lock.json sha256', value: sha }],
  },
  components: shipped.map(component),
  dependencies: [['', packages['']], ...shipped].map(needs),
};

const file = path.resolve(process.argv[2] ?? path.join(root, 'dist/sbom.json'));
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
console.log(`${file}: ${bom.components.length} packages`);
