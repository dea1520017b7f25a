// SPDX-License-Identifier: Apache-2.0
//
// tap.ts: what tests/run reads: a line a test, the reason below one that failed, the plan at the end.
import { relative } from 'node:path';
import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter';

const comment = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '').replace(/^/gm, '#   ');

export default class Tap implements Reporter {
  private count = 0;

  onTestEnd(test: TestCase, result: TestResult) {
    const fine = result.status === test.expectedStatus;
    const file = relative(test.titlePath()[1] ? process.cwd() : '', test.location.file).replace(/^tests\/|\.spec\.ts$/g, '');
    const name = [file, ...test.titlePath().slice(3)].join(': ').replace(/#/g, '');
    const skip = result.status === 'skipped' ? ' # SKIP' : '';
    console.log(`${fine || skip ? 'ok' : 'not ok'} ${++this.count} - ${name}${skip}`);
    if (!fine && !skip) for (const error of result.errors) console.log(comment(error.stack ?? error.message ?? error.value ?? ''));
  }

  onError(error: { message?: string; stack?: string }) {
    console.log(comment(error.stack ?? error.message ?? ''));
  }

  onEnd(result: FullResult) {
    if (result.status === 'interrupted' || result.status === 'timedout') console.log(`Bail out! ${result.status}`);
    console.log(`1..${this.count}`);
  }

  printsToStdio() {
    return true;
  }
}
