// Messages as arrows: those of the chosen call, all of them where few are in sight, and those that were waited for longest.
import { kWaiting, themed } from '../colours.js';
import * as format from '../format.js';
import { doneOf, messagesAt, messagesOf } from './messages.js';
import { kMostSenders } from './strip.js';

const kMostArrows = 300;
const kArrowCalls = 3000;  // with more calls in sight, only the longest messages and those of the chosen call
const kArrowPx = 8;        // the same with less room for each sender
const kLongest = 12;       // in sight

export class Arrows {
  constructor(view) {
    this.view = view;
    this.count = 0;
    this.longest = 0;
  }

  draw(context, picture) {
    this.context = context;
    this.picture = picture;
    const { view } = this;
    const { painter } = picture;
    const arrows = [];
    let isCut = false;
    const chosen = view.chosen();
    if (chosen && chosen.seq >= 0 && chosen.row.grammar)
      for (const message of messagesAt(view.model, chosen.row, chosen.seq)) arrows.push([message, true]);
    const drawsAll = painter.calls <= kArrowCalls && painter.senders.length * kArrowPx <= view.plotWidth;
    if (drawsAll)
      for (const call of painter.senders) {
        isCut = arrows.length > kMostArrows;
        if (isCut) break;
        for (const message of messagesOf(view.model, call.row, call.seq, 'send')) arrows.push([message, false]);
      }
    context.save();
    picture.clip();
    for (const [message, isChosen] of arrows) if (!isChosen) this.drawMessage(message, false);
    this.drawLongest();
    for (const [message, isChosen] of arrows) if (isChosen) this.drawMessage(message, true);
    if (isCut || (drawsAll && painter.senders.length >= kMostSenders)) this.sayCut(arrows.length);
    context.restore();
    this.count = arrows.length;
  }
  sayCut(count) {
    const { context, view } = this;
    const text = `${format.count(count)} of the messages in sight`;
    context.font = '11px system-ui, sans-serif';
    const width = context.measureText(text).width + 8;
    context.fillStyle = themed('--surface');
    context.fillRect(view.gutter + view.plotWidth - width, view.top, width, 15);
    context.fillStyle = themed('--soft');
    context.fillText(text, view.gutter + view.plotWidth - width + 4, view.top + 8);
  }
  drawLongest() {
    const { view } = this;
    const { late } = view.model;
    this.longest = 0;
    for (let i = 0; i < late.from.length && this.longest < kLongest; ++i) {
      if (late.to_ns[i] < view.from || late.from_ns[i] > view.to) continue;
      if (late.from[i] === late.to[i]) continue;
      if (this.arrow(late.from[i], late.from_ns[i], late.to[i], late.to_ns[i], kWaiting, 2)) ++this.longest;
    }
  }
  drawMessage(message, isChosen) {
    const { model } = this.view;
    const { from } = message;
    const done = doneOf(model, message);
    this.arrow(from.row.index, model.timeOf(from.row, from.seq).begin, done.row.index,
      model.timeOf(done.row, done.seq).end, themed(isChosen ? '--ink' : '--arrow'), isChosen ? 1.8 : 0.9);
  }
  /** Between two rows, by their numbers; false where one of them is not in sight. */
  arrow(from, fromNs, to, toNs, colour, width) {
    const { context, picture } = this;
    const y0 = picture.places.get(from);
    const y1 = picture.places.get(to);
    if (y0 === undefined || y1 === undefined) return false;
    const x0 = picture.xOf(fromNs);
    const x1 = picture.xOf(toNs);
    const angle = Math.atan2(y1 - y0, x1 - x0);
    // A rim of the page's colour keeps it apart from the bars behind it.
    for (const [style, more] of [[themed('--surface'), 1.6], [colour, 0]]) {
      context.strokeStyle = context.fillStyle = style;
      context.lineWidth = width + more;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
      context.beginPath();
      context.moveTo(x1, y1);
      for (const turn of [-0.4, 0.4])
        context.lineTo(x1 - (7 + more) * Math.cos(angle + turn), y1 - (7 + more) * Math.sin(angle + turn));
      context.fill();
    }
    return true;
  }
}
