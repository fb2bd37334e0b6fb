// What tokens of the common providers and private keys look like: a beginning, and then so many characters of an alphabet. Pure data.
// Derived from the rules of gitleaks (MIT, see NOTICE.md here) at b58d3f1: those that have a beginning of their own, without those that guess.

export interface Shape {
  readonly id: string;
  readonly prefix: string;
  /** Of what follows the prefix. */
  readonly body: RegExp;
  /** Characters after the prefix from which on it is a token; then all that belongs to the alphabet is part of it. */
  readonly least: number;
  /** Goes on over the ends of lines. */
  readonly isBlock?: true;
}

const alnum = /[0-9A-Za-z]/;
const word = /[0-9A-Za-z_-]/;
const hex = /[0-9A-Fa-f]/;
const base64 = /[0-9A-Za-z+/=]/;
const dotted = /[0-9A-Za-z_.=-]/;

type Row = readonly [id: string, prefixes: string, body: RegExp, least: number];

/** Prefixes are separated by blanks. */
const rows: readonly Row[] = [
  ['1password-secret-key', 'A3-', /[0-9A-Z-]/, 31],
  ['1password-service-account-token', 'ops_eyJ', base64, 120],
  ['adobe-client-secret', 'p8e-', alnum, 32],
  ['age-secret-key', 'AGE-SECRET-KEY-1', /[0-9A-Z]/, 58],
  ['alibaba-access-key-id', 'LTAI', alnum, 20],
  ['anthropic-api-key', 'sk-ant-api03- sk-ant-admin01- sk-ant-oat01-', word, 80],
  ['artifactory-api-key', 'AKCp', alnum, 69],
  ['artifactory-reference-token', 'cmVmd', alnum, 59],
  ['aws-access-token', 'AKIA ASIA ABIA ACCA', /[A-Z2-7]/, 16],
  ['aws-bedrock-api-key', 'ABSK', base64, 109],
  ['aws-secret-access-key', 'AWS_SECRET_ACCESS_KEY= aws_secret_access_key= SecretAccessKey=', base64, 40],
  ['clojars-api-token', 'CLOJARS_', alnum, 60],
  ['cloudflare-origin-ca-key', 'v1.0-', /[0-9a-f-]/, 100],
  ['databricks-api-token', 'dapi', hex, 32],
  ['digitalocean-token', 'doo_v1_ dop_v1_ dor_v1_', hex, 64],
  ['doppler-api-token', 'dp.pt.', alnum, 43],
  ['duffel-api-token', 'duffel_test_ duffel_live_', dotted, 43],
  ['dynatrace-api-token', 'dt0c01.', dotted, 89],
  ['easypost-api-token', 'EZAK EZTK', alnum, 54],
  ['facebook-page-access-token', 'EAAM EAAC', alnum, 100],
  ['flutterwave-secret-key', 'FLWSECK_TEST-', /[0-9A-Za-z-]/, 12],
  ['flyio-access-token', 'fo1_', word, 43],
  ['flyio-macaroon', 'fm1a_ fm1r_ fm2_', base64, 100],
  ['frameio-api-token', 'fio-u-', dotted, 64],
  ['gcp-api-key', 'AIza', word, 35],
  ['github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', alnum, 36],
  ['github-fine-grained-pat', 'github_pat_', /\w/, 82],
  ['gitlab-token', 'glpat- gldt- glffct- glft- glimt- glrt- glsoat- gloas- glagent- GR1348941', /[\w.-]/, 20],
  ['gitlab-cicd-job-token', 'glcbt-', word, 22],
  ['gitlab-trigger-token', 'glptt-', hex, 40],
  ['gitlab-session-cookie', '_gitlab_session=', alnum, 32],
  ['grafana-api-key', 'eyJrIjoi', base64, 70],
  ['grafana-cloud-token', 'glc_', base64, 32],
  ['grafana-service-account-token', 'glsa_', /\w/, 41],
  ['heroku-api-key', 'HRKU-AA', word, 58],
  ['huggingface-token', 'hf_ api_org_', /[A-Za-z]/, 34],
  ['infracost-api-token', 'ico-', alnum, 32],
  ['jwt', '.eyJ', /[\w./=-]/, 25],
  ['linear-api-key', 'lin_api_', alnum, 40],
  ['notion-api-token', 'ntn_', alnum, 46],
  ['npm-access-token', 'npm_', alnum, 36],
  ['octopus-deploy-api-key', 'API-', /[0-9A-Z]/, 26],
  ['openai-api-key', 'sk-proj- sk-svcacct- sk-admin-', word, 58],
  ['openai-legacy-api-key', 'sk-', alnum, 48],
  ['openshift-user-token', 'sha256~', word, 43],
  ['perplexity-api-key', 'pplx-', alnum, 48],
  ['planetscale-token', 'pscale_tkn_ pscale_oauth_ pscale_pw_', dotted, 32],
  ['postman-api-token', 'PMAK-', /[0-9A-Fa-f-]/, 59],
  ['prefect-api-token', 'pnu_', alnum, 36],
  ['pulumi-api-token', 'pul-', hex, 40],
  ['pypi-upload-token', 'pypi-AgEIcHlwaS5vcmc', word, 50],
  ['readme-api-token', 'rdme_', alnum, 70],
  ['rubygems-api-token', 'rubygems_', hex, 48],
  ['scalingo-api-token', 'tk-us-', word, 48],
  ['sendgrid-api-token', 'SG.', dotted, 66],
  ['sendinblue-api-token', 'xkeysib-', /[0-9A-Za-z-]/, 81],
  ['sentry-org-token', 'sntrys_eyJpYXQiO', /[\w+/=]/, 70],
  ['sentry-user-token', 'sntryu_', hex, 64],
  ['settlemint-token', 'sm_aat_ sm_pat_ sm_sat_', alnum, 16],
  ['shippo-api-token', 'shippo_live_ shippo_test_', hex, 40],
  ['shopify-token', 'shpat_ shpca_ shppa_ shpss_', hex, 32],
  ['slack-app-token', 'xapp-', /[0-9A-Za-z-]/, 30],
  ['slack-token', 'xoxb- xoxp- xoxe- xoxo- xoxs- xoxa- xoxr-', /[0-9A-Za-z.-]/, 14],
  ['slack-webhook-url', 'hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/', base64, 43],
  ['sourcegraph-access-token', 'sgp_', /\w/, 40],
  ['square-access-token', 'sq0atp- EAAA', word, 22],
  ['stripe-access-token', 'sk_test_ sk_live_ sk_prod_ rk_test_ rk_live_ rk_prod_', alnum, 10],
  ['twilio-api-key', 'SK', hex, 32],
  ['vault-token', 'hvs. hvb.', word, 90],
];

const blocks = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED '].map((kind) => `-----BEGIN ${kind}PRIVATE KEY-----`);

/** Its line is shown, and then nothing up to `BLOCK_END`, or up to what cannot be part of a key. */
const privateKeys: readonly Shape[] = [...blocks, '-----BEGIN PGP PRIVATE KEY BLOCK-----'].map((prefix) => ({
  id: 'private-key',
  prefix,
  body: /[0-9A-Za-z+/=\\ ,:.()-]/,
  least: 0,
  isBlock: true,
}));

export const BLOCK_END = '-----END';

export const shapes: readonly Shape[] = [
  ...rows.flatMap(([id, prefixes, body, least]) => prefixes.split(' ').map((prefix) => ({ id, prefix, body, least }))),
  ...privateKeys,
];
