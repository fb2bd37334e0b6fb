// Reads a file of settings, JSON or YAML, in which nothing is said twice. Knows no setting.
import { readFileSync } from 'node:fs';
import { type Document, parseDocument, visit } from 'yaml';

/** Its content, whatever it is. Throws an Error of one line that names the file. */
export function readSettings(file: string): unknown {
  try {
    const text = readFileSync(file, 'utf8');
    return file.endsWith('.json') ? fromJson(text) : fromYaml(text);
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`, { cause: error });
  }
}

/** JSON is YAML as well, so that one reader tells of names given twice, which JSON's own passes over. */
function fromJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const document = parseDocument(text);
  refuse(document.errors.find(({ code }) => code === 'DUPLICATE_KEY') ?? pollution(document));
  return value;
}

function fromYaml(text: string): unknown {
  const document = parseDocument(text);
  // What it only warns of is a tag that it does not know.
  refuse(document.errors[0] ?? document.warnings[0] ?? pollution(document));
  return document.toJS();
}

/** A name that means something else to objects. */
function pollution(document: Document.Parsed): Error | undefined {
  let found = false;
  visit(document, {
    Scalar: (key, { value }) => {
      found ||= key === 'key' && value === '__proto__';
    },
  });
  return found ? new Error('nothing can be named __proto__') : undefined;
}

function refuse(fault: Error | undefined): void {
  if (fault) throw fault;
}
