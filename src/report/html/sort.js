// Tables sort by the column whose heading is pressed. Without this they are in the report's order.
for (const table of document.querySelectorAll('table[data-table]')) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const falling = head.getAttribute('aria-sort') === 'descending';
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', falling ? 'ascending' : 'descending');
      const key = (row) => {
        const cell = row.cells[column];
        if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
        return cell.classList.contains('num') ? null : cell.textContent;
      };
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        const less = x < y ? -1 : x > y ? 1 : 0;
        return falling ? less : -less;
      };
      body.append(...[...body.rows].sort(order));
    });
  });
}
