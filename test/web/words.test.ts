import { describe, expect, it } from 'vitest';
import { secrecyText } from '../../web/src/shared/words.js';

describe('The words for a session', () => {
  it('tell of its secrets, if there is something to be told', () => {
    expect(secrecyText({})).toBe('');
    expect(secrecyText({ sensitive: true })).toBe('sensitive');
    expect(secrecyText({ sensitive: true, live_stream: 'raw' })).toBe('sensitive · secrets are shown live');
    expect(secrecyText({ redaction: 'off' })).toBe('secrets are shown');
  });
});
