// Makes elements in one expression. Knows nothing of this page.

type Child = Node | string | undefined | false;
type Attribute = string | number | boolean | undefined | ((event: never) => void);

/**
 * An element with attributes, listeners (`onclick` and the like) and children. `true` is an empty attribute; `false` and
 * `undefined` leave it out. Text goes in as text: nothing that a program or a person wrote is ever read as markup.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}
